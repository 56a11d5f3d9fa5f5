package notifydelivery;

/** A webhook is not of the service: respond with 400 and ignore the request. */
public final class InvalidSignatureException extends Exception {
    private static final long serialVersionUID = 1;

    InvalidSignatureException(String said) {
        super(said);
    }
}
