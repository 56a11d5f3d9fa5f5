"""The texts of the unsubscribe page by language, with English as the default.

The texts are data instead of gettext catalogues: twelve sentences which belong together, without a
compiled file. `{topic}` is the category or type of the message; the template escapes the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from notifications.rules.language import locales


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTexts:
    """The texts in a language."""

    title: str
    question: str
    topic: str
    marketing: str
    channel: str
    """Must state that security codes stop too, before the person chooses."""
    button: str
    done: str
    undo: str
    """The button on the confirmation."""
    undone: str
    bad_title: str
    bad_link: str
    later: str
    """Shown while the database is away."""


_WORDS: Final[Mapping[str, PageTexts]] = {
    "en": PageTexts(
        title="Unsubscribe",
        question="What do you no longer want to receive?",
        topic="Messages of the kind “{topic}”",
        marketing="All advertising",
        channel="All e-mail from us, security codes included",
        button="Unsubscribe",
        done="Done. You will not receive this any more.",
        undo="Undo",
        undone="All as before. You will go on receiving this.",
        bad_title="This link does not work",
        bad_link="It may have been cut off. Open it from the message again, or answer the message.",
        later="Nothing was changed. Please try again in a minute.",
    ),
    "de": PageTexts(
        title="Abmelden",
        question="Was möchten Sie nicht mehr erhalten?",
        topic="Nachrichten der Art „{topic}“",
        marketing="Jede Werbung",
        channel="Alle E-Mails von uns, auch Sicherheitscodes",
        button="Abmelden",
        done="Erledigt. Sie erhalten das nicht mehr.",
        undo="Rückgängig machen",
        undone="Alles wie zuvor. Sie erhalten das weiterhin.",
        bad_title="Dieser Link funktioniert nicht",
        bad_link="Vielleicht wurde er abgeschnitten. Öffnen Sie ihn noch einmal aus der Nachricht,"
        " oder antworten Sie auf sie.",
        later="Es wurde nichts geändert. Bitte versuchen Sie es in einer Minute noch einmal.",
    ),
    "es": PageTexts(
        title="Darse de baja",
        question="¿Qué no desea recibir más?",
        topic="Mensajes del tipo «{topic}»",
        marketing="Toda la publicidad",
        channel="Todos nuestros correos, incluidos los códigos de seguridad",
        button="Darse de baja",
        done="Listo. Ya no lo recibirá.",
        undo="Deshacer",
        undone="Todo como antes. Seguirá recibiéndolo.",
        bad_title="Este enlace no funciona",
        bad_link="Puede que esté cortado. Ábralo de nuevo desde el mensaje o responda al mensaje.",
        later="No se ha cambiado nada. Inténtelo de nuevo en un minuto.",
    ),
    "pt-BR": PageTexts(
        title="Cancelar inscrição",
        question="O que você não quer mais receber?",
        topic="Mensagens do tipo “{topic}”",
        marketing="Toda a publicidade",
        channel="Todos os nossos e-mails, inclusive códigos de segurança",
        button="Cancelar inscrição",
        done="Pronto. Você não receberá mais isso.",
        undo="Desfazer",
        undone="Tudo como antes. Você continuará recebendo isso.",
        bad_title="Este link não funciona",
        bad_link="Talvez esteja cortado. Abra-o de novo na mensagem ou responda à mensagem.",
        later="Nada foi alterado. Tente de novo em um minuto.",
    ),
    "fr": PageTexts(
        title="Se désabonner",
        question="Que ne souhaitez-vous plus recevoir ?",
        topic="Les messages du type « {topic} »",
        marketing="Toute publicité",
        channel="Tous nos e-mails, y compris les codes de sécurité",
        button="Se désabonner",
        done="C'est fait. Vous ne recevrez plus ces messages.",
        undo="Annuler",
        undone="Tout est comme avant. Vous continuerez à recevoir ces messages.",
        bad_title="Ce lien ne fonctionne pas",
        bad_link="Il est peut-être coupé. Ouvrez-le de nouveau depuis le message, ou répondez au"
        " message.",
        later="Rien n'a été modifié. Réessayez dans une minute.",
    ),
}
LANGUAGES: Final = tuple(_WORDS)


def words_for(locale: str) -> tuple[str, PageTexts]:
    """Return the nearest available language for a locale, and the texts."""
    language = locales.choose(LANGUAGES, locale) or locales.DEFAULT
    return language, _WORDS[language]
