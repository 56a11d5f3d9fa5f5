// The words of the component in five languages, and dates by Intl.

const LANGUAGES = ["en", "de", "fr", "es", "ar"];
const TEXTS = { // each text in the order of LANGUAGES: shorter, compressed, than each language with all names
  title: ["Notifications", "Benachrichtigungen", "Notifications", "Notificaciones", "الإشعارات"],
  unreadCount: [
    "{n} unread",
    "{n} ungelesen",
    { one: "{n} non lue", other: "{n} non lues" },
    "{n} sin leer",
    { one: "إشعار واحد غير مقروء", two: "إشعاران غير مقروءين", few: "{n} إشعارات غير مقروءة", many: "{n} إشعارًا غير مقروء", other: "{n} إشعار غير مقروء" },
  ],
  fresh: [
    { one: "{n} new notification", other: "{n} new notifications" },
    { one: "{n} neue Benachrichtigung", other: "{n} neue Benachrichtigungen" },
    { one: "{n} nouvelle notification", other: "{n} nouvelles notifications" },
    { one: "{n} notificación nueva", other: "{n} notificaciones nuevas" },
    { one: "إشعار جديد واحد", two: "إشعاران جديدان", few: "{n} إشعارات جديدة", many: "{n} إشعارًا جديدًا", other: "{n} إشعار جديد" },
  ],
  more: [
    "and {n} more",
    "und {n} weitere",
    { one: "et {n} autre", other: "et {n} autres" },
    "y {n} más",
    { one: "وإشعار آخر", two: "وإشعاران آخران", few: "و{n} إشعارات أخرى", many: "و{n} إشعارًا آخر", other: "و{n} إشعار آخر" },
  ],
  fewer: ["Show less", "Weniger anzeigen", "Afficher moins", "Mostrar menos", "عرض أقل"],
  all: ["All", "Alle", "Toutes", "Todas", "الكل"],
  unread: ["Unread", "Ungelesen", "Non lues", "Sin leer", "غير مقروءة"],
  archived: ["Archived", "Archiv", "Archivées", "Archivadas", "المؤرشفة"],
  snoozed: ["Snoozed", "Zurückgestellt", "En pause", "Pospuestas", "المؤجلة"],
  views: ["Views", "Ansichten", "Vues", "Vistas", "طرق العرض"],
  list: ["List of notifications", "Liste der Benachrichtigungen", "Liste des notifications", "Lista de notificaciones", "قائمة الإشعارات"],
  readAll: ["Mark all as read", "Alle als gelesen markieren", "Tout marquer comme lu", "Marcar todo como leído", "تعليم الكل كمقروء"],
  close: ["Close", "Schließen", "Fermer", "Cerrar", "إغلاق"],
  options: ["Options", "Optionen", "Options", "Opciones", "خيارات"],
  read: ["Mark as read", "Als gelesen markieren", "Marquer comme lue", "Marcar como leída", "تعليم كمقروء"],
  markUnread: ["Mark as unread", "Als ungelesen markieren", "Marquer comme non lue", "Marcar como no leída", "تعليم كغير مقروء"],
  archive: ["Archive", "Archivieren", "Archiver", "Archivar", "أرشفة"],
  unarchive: ["Move to inbox", "In den Posteingang", "Remettre dans la boîte", "Mover a la bandeja", "نقل إلى الوارد"],
  remove: ["Delete", "Löschen", "Supprimer", "Eliminar", "حذف"],
  snooze: ["Remind me", "Erinnern", "Me le rappeler", "Recordármelo", "ذكّرني"],
  unsnooze: ["Remind me no longer", "Nicht mehr erinnern", "Ne plus me le rappeler", "No recordármelo más", "إلغاء التذكير"],
  hour: ["In an hour", "In einer Stunde", "Dans une heure", "En una hora", "بعد ساعة"],
  evening: ["This evening", "Heute Abend", "Ce soir", "Esta tarde", "هذا المساء"],
  tomorrow: ["Tomorrow morning", "Morgen früh", "Demain matin", "Mañana por la mañana", "صباح الغد"],
  week: ["Next week", "Nächste Woche", "La semaine prochaine", "La próxima semana", "الأسبوع القادم"],
  empty: ["You are all caught up", "Alles gelesen", "Vous êtes à jour", "Estás al día", "لا جديد لديك"],
  emptyMore: [
    "New notifications appear here.",
    "Neue Benachrichtigungen erscheinen hier.",
    "Les nouvelles notifications s’affichent ici.",
    "Las notificaciones nuevas aparecen aquí.",
    "تظهر الإشعارات الجديدة هنا.",
  ],
  emptyView: ["Nothing here", "Hier ist nichts", "Rien ici", "Nada por aquí", "لا شيء هنا"],
  offline: [
    "You are offline. Your changes are sent later.",
    "Keine Verbindung. Änderungen werden später gesendet.",
    "Hors ligne. Vos modifications seront envoyées plus tard.",
    "Sin conexión. Los cambios se enviarán más tarde.",
    "أنت غير متصل. سترسل تغييراتك لاحقًا.",
  ],
  reconnecting: ["Reconnecting…", "Verbindung wird hergestellt …", "Reconnexion…", "Reconectando…", "جارٍ إعادة الاتصال…"],
  signedOut: [
    "Sign in to see your notifications.",
    "Bitte anmelden, um Benachrichtigungen zu sehen.",
    "Connectez-vous pour voir vos notifications.",
    "Inicia sesión para ver tus notificaciones.",
    "سجّل الدخول لعرض إشعاراتك.",
  ],
  error: [
    "Notifications could not be loaded.",
    "Benachrichtigungen konnten nicht geladen werden.",
    "Impossible de charger les notifications.",
    "No se pudieron cargar las notificaciones.",
    "تعذّر تحميل الإشعارات.",
  ],
  retry: ["Try again", "Erneut versuchen", "Réessayer", "Reintentar", "إعادة المحاولة"],
  refused: [
    "The change was not saved.",
    "Die Änderung wurde nicht gespeichert.",
    "La modification n’a pas été enregistrée.",
    "El cambio no se guardó.",
    "لم يُحفظ التغيير.",
  ],
  done: ["Done", "Erledigt", "C’est fait", "Hecho", "تم"],
  isUnread: ["Unread", "Ungelesen", "Non lue", "Sin leer", "غير مقروء"],
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
    const place = Math.max(0, LANGUAGES.indexOf(language));
    this.language = LANGUAGES[place];
    this.locale = this.language === language && locale ? locale : "en";
    this.direction = this.language === "ar" ? "rtl" : "ltr";
    this.texts = Object.fromEntries(Object.entries(TEXTS).map(([name, texts]) => [name, texts[place]]));
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
