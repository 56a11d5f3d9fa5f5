package notifydelivery;

/**
 * The last request got no response: no connection, a timeout, or an interruption of the thread. The
 * service may have carried out the call.
 */
public final class ConnectionException extends NotifyException {
    private static final long serialVersionUID = 1;

    ConnectionException(Failed failed, Throwable cause) {
        super("no answer after " + failed.attempts() + " request(s)", failed, cause);
    }
}
