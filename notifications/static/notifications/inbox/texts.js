// The words of the component in five languages, and dates by Intl.

const TEXTS = {
  en: {
    title: "Notifications", unreadCount: "{n} unread",
    fresh: { one: "{n} new notification", other: "{n} new notifications" },
    more: "and {n} more", fewer: "Show less",
    all: "All", unread: "Unread", archived: "Archived", snoozed: "Snoozed", views: "Views", list: "List of notifications",
    readAll: "Mark all as read", close: "Close", options: "Options", read: "Mark as read", markUnread: "Mark as unread",
    archive: "Archive", unarchive: "Move to inbox", remove: "Delete", snooze: "Remind me", unsnooze: "Remind me no longer",
    hour: "In an hour", evening: "This evening", tomorrow: "Tomorrow morning", week: "Next week",
    empty: "You are all caught up", emptyMore: "New notifications appear here.", emptyView: "Nothing here",
    offline: "You are offline. Your changes are sent later.", reconnecting: "Reconnecting…",
    signedOut: "Sign in to see your notifications.", error: "Notifications could not be loaded.", retry: "Try again",
    refused: "The change was not saved.", done: "Done", isUnread: "Unread",
  },
  de: {
    title: "Benachrichtigungen", unreadCount: "{n} ungelesen",
    fresh: { one: "{n} neue Benachrichtigung", other: "{n} neue Benachrichtigungen" },
    more: "und {n} weitere", fewer: "Weniger anzeigen",
    all: "Alle", unread: "Ungelesen", archived: "Archiv", snoozed: "Zurückgestellt", views: "Ansichten", list: "Liste der Benachrichtigungen",
    readAll: "Alle als gelesen markieren", close: "Schließen", options: "Optionen", read: "Als gelesen markieren", markUnread: "Als ungelesen markieren",
    archive: "Archivieren", unarchive: "In den Posteingang", remove: "Löschen", snooze: "Erinnern", unsnooze: "Nicht mehr erinnern",
    hour: "In einer Stunde", evening: "Heute Abend", tomorrow: "Morgen früh", week: "Nächste Woche",
    empty: "Alles gelesen", emptyMore: "Neue Benachrichtigungen erscheinen hier.", emptyView: "Hier ist nichts",
    offline: "Keine Verbindung. Änderungen werden später gesendet.", reconnecting: "Verbindung wird hergestellt …",
    signedOut: "Bitte anmelden, um Benachrichtigungen zu sehen.", error: "Benachrichtigungen konnten nicht geladen werden.", retry: "Erneut versuchen",
    refused: "Die Änderung wurde nicht gespeichert.", done: "Erledigt", isUnread: "Ungelesen",
  },
  fr: {
    title: "Notifications", unreadCount: { one: "{n} non lue", other: "{n} non lues" },
    fresh: { one: "{n} nouvelle notification", other: "{n} nouvelles notifications" },
    more: { one: "et {n} autre", other: "et {n} autres" }, fewer: "Afficher moins",
    all: "Toutes", unread: "Non lues", archived: "Archivées", snoozed: "En pause", views: "Vues", list: "Liste des notifications",
    readAll: "Tout marquer comme lu", close: "Fermer", options: "Options", read: "Marquer comme lue", markUnread: "Marquer comme non lue",
    archive: "Archiver", unarchive: "Remettre dans la boîte", remove: "Supprimer", snooze: "Me le rappeler", unsnooze: "Ne plus me le rappeler",
    hour: "Dans une heure", evening: "Ce soir", tomorrow: "Demain matin", week: "La semaine prochaine",
    empty: "Vous êtes à jour", emptyMore: "Les nouvelles notifications s’affichent ici.", emptyView: "Rien ici",
    offline: "Hors ligne. Vos modifications seront envoyées plus tard.", reconnecting: "Reconnexion…",
    signedOut: "Connectez-vous pour voir vos notifications.", error: "Impossible de charger les notifications.", retry: "Réessayer",
    refused: "La modification n’a pas été enregistrée.", done: "C’est fait", isUnread: "Non lue",
  },
  es: {
    title: "Notificaciones", unreadCount: "{n} sin leer",
    fresh: { one: "{n} notificación nueva", other: "{n} notificaciones nuevas" },
    more: "y {n} más", fewer: "Mostrar menos",
    all: "Todas", unread: "Sin leer", archived: "Archivadas", snoozed: "Pospuestas", views: "Vistas", list: "Lista de notificaciones",
    readAll: "Marcar todo como leído", close: "Cerrar", options: "Opciones", read: "Marcar como leída", markUnread: "Marcar como no leída",
    archive: "Archivar", unarchive: "Mover a la bandeja", remove: "Eliminar", snooze: "Recordármelo", unsnooze: "No recordármelo más",
    hour: "En una hora", evening: "Esta tarde", tomorrow: "Mañana por la mañana", week: "La próxima semana",
    empty: "Estás al día", emptyMore: "Las notificaciones nuevas aparecen aquí.", emptyView: "Nada por aquí",
    offline: "Sin conexión. Los cambios se enviarán más tarde.", reconnecting: "Reconectando…",
    signedOut: "Inicia sesión para ver tus notificaciones.", error: "No se pudieron cargar las notificaciones.", retry: "Reintentar",
    refused: "El cambio no se guardó.", done: "Hecho", isUnread: "Sin leer",
  },
  ar: {
    title: "الإشعارات",
    unreadCount: { one: "إشعار واحد غير مقروء", two: "إشعاران غير مقروءين", few: "{n} إشعارات غير مقروءة", many: "{n} إشعارًا غير مقروء", other: "{n} إشعار غير مقروء" },
    fresh: { one: "إشعار جديد واحد", two: "إشعاران جديدان", few: "{n} إشعارات جديدة", many: "{n} إشعارًا جديدًا", other: "{n} إشعار جديد" },
    more: { one: "وإشعار آخر", two: "وإشعاران آخران", few: "و{n} إشعارات أخرى", many: "و{n} إشعارًا آخر", other: "و{n} إشعار آخر" }, fewer: "عرض أقل",
    all: "الكل", unread: "غير مقروءة", archived: "المؤرشفة", snoozed: "المؤجلة", views: "طرق العرض", list: "قائمة الإشعارات",
    readAll: "تعليم الكل كمقروء", close: "إغلاق", options: "خيارات", read: "تعليم كمقروء", markUnread: "تعليم كغير مقروء",
    archive: "أرشفة", unarchive: "نقل إلى الوارد", remove: "حذف", snooze: "ذكّرني", unsnooze: "إلغاء التذكير",
    hour: "بعد ساعة", evening: "هذا المساء", tomorrow: "صباح الغد", week: "الأسبوع القادم",
    empty: "لا جديد لديك", emptyMore: "تظهر الإشعارات الجديدة هنا.", emptyView: "لا شيء هنا",
    offline: "أنت غير متصل. سترسل تغييراتك لاحقًا.", reconnecting: "جارٍ إعادة الاتصال…",
    signedOut: "سجّل الدخول لعرض إشعاراتك.", error: "تعذّر تحميل الإشعارات.", retry: "إعادة المحاولة",
    refused: "لم يُحفظ التغيير.", done: "تم", isUnread: "غير مقروء",
  },
};
const UNITS = [["minute", 60], ["hour", 3600], ["day", 86_400]];
const WEEK = 7 * 86_400;

/** The texts and formats of a locale; a language without texts gets English words. */
export class Words {
  constructor(wanted) {
    let locale;
    try {
      [locale] = Intl.getCanonicalLocales(wanted.replace("_", "-"));
    } catch {
      locale = undefined;
    }
    const language = (locale ?? "en").split("-")[0];
    this.language = language in TEXTS ? language : "en";
    this.locale = this.language === language && locale ? locale : "en";
    this.direction = this.language === "ar" ? "rtl" : "ltr";
    this.texts = TEXTS[this.language];
    this.plurals = new Intl.PluralRules(this.locale);
    this.numbers = new Intl.NumberFormat(this.locale);
    this.relative = new Intl.RelativeTimeFormat(this.locale, { numeric: "auto", style: "short" });
    this.day = new Intl.DateTimeFormat(this.locale, { day: "numeric", month: "short" });
    this.exact = new Intl.DateTimeFormat(this.locale, { dateStyle: "full", timeStyle: "short" });
    this.hour = new Intl.DateTimeFormat(this.locale, { weekday: "short", hour: "numeric", minute: "2-digit" });
  }

  /** Return the text for a number. */
  count(name, number) {
    const forms = this.texts[name];
    const form = forms[this.plurals.select(number)] ?? forms.other ?? forms; // a text alone is for all numbers
    return form.replace("{n}", this.numbers.format(number));
  }

  /** Return the age of an instant, or its date if the age is a week or more. */
  ago(instant, now = Date.now()) {
    const seconds = Math.max(0, (now - Date.parse(instant)) / 1000);
    if (seconds >= WEEK) return this.day.format(new Date(instant));
    const [unit, size] = UNITS.findLast(([, each]) => seconds >= each) ?? ["second", Infinity];
    return this.relative.format(-Math.floor(seconds / size), unit);
  }
}
