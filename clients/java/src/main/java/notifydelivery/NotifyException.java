package notifydelivery;

/** A failed call. No exception contains the API key, a body or a query. */
public abstract class NotifyException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final Failed failed;

    NotifyException(String said, Failed failed, Throwable cause) {
        super(failed.operation() + ": " + said, cause);
        this.failed = failed;
    }

    /** Facts about the call. */
    public Failed failed() {
        return failed;
    }

    /**
     * Facts about a failed call.
     *
     * @param operation method and path, as in the OpenAPI document
     * @param attempts the number of requests, including the first request
     * @param unanswered the number of requests without a response; above 0 the call may have taken
     *     effect, even where the last request was refused
     * @param idempotencyKey the key of the requests, or null: a later call with the same key and body
     *     cannot act twice
     */
    public record Failed(String operation, int attempts, int unanswered, String idempotencyKey)
            implements java.io.Serializable {}
}
