/**
 * A client of the notification delivery service, with the JDK alone.
 *
 * <p>{@link notifydelivery.Client} has a method for each operation of the API. The types and methods
 * are generated; a field that the service adds later is kept in {@link
 * notifydelivery.JsonObject#json()}, and an enumeration is text, so a later word is no error.
 */
package notifydelivery;
