package notifydelivery;

/** A read with {@link Option#ifNoneMatch} found the object unchanged. */
public final class NotModifiedException extends NotifyException {
    private static final long serialVersionUID = 1;

    NotModifiedException(Failed failed) {
        super("the object is unchanged", failed, null);
    }
}
