package notifydelivery;

/** A response of another server: a redirect, or a success without JSON or without a field of each answer. */
public final class UnexpectedAnswerException extends NotifyException {
    private static final long serialVersionUID = 1;
    private final int status;

    UnexpectedAnswerException(int status, String said, Failed failed) {
        super(status + ", " + said + ": check the URL, and proxies in front of it", failed, null);
        this.status = status;
    }

    /** The HTTP status. */
    public int status() {
        return status;
    }
}
