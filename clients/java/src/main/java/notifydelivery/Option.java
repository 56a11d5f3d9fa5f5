package notifydelivery;

import java.util.function.Consumer;

/** A change of one call. */
public final class Option {
    final String header;
    final String value;
    final Consumer<ResponseHead> head;

    private Option(String header, String value, Consumer<ResponseHead> head) {
        this.header = header;
        this.value = value;
        this.head = head;
    }

    /**
     * Gives a POST a key in place of a random key. The service carries out a key and body once in 24 hours.
     *
     * @param key 1 to 255 printable ASCII characters without a space at either end, because HTTP strips
     *     such spaces and two different keys would become equal
     */
    public static Option idempotencyKey(String key) {
        if (key == null || !key.matches("[!-~]([ -~]{0,253}[!-~])?")) {
            throw new IllegalArgumentException(
                    "an idempotency key has 1 to 255 printable ASCII characters without a space at its ends");
        }
        return new Option(Transport.KEY, key, null);
    }

    /** Lets a write succeed only while the object has this ETag; otherwise the status is 412. */
    public static Option ifMatch(String etag) {
        return new Option("If-Match", checked(etag), null);
    }

    /**
     * Lets a read end with {@link NotModifiedException} while the object has this ETag. The ETag * lets
     * {@code putRecipient} create a recipient, and never replace one.
     */
    public static Option ifNoneMatch(String etag) {
        return new Option("If-None-Match", checked(etag), null);
    }

    /** Passes facts about the response to a function; a list passes the facts about each page. */
    public static Option head(Consumer<ResponseHead> receiver) {
        return new Option(null, null, receiver);
    }

    /** Keeps a condition that was lost on the way from becoming a write without a condition. */
    private static String checked(String etag) {
        if (etag == null || !etag.matches("\\*|(W/)?\"[!#-~]*\"")) {
            throw new IllegalArgumentException("the condition needs the ETag of an object that was read");
        }
        return etag;
    }
}
