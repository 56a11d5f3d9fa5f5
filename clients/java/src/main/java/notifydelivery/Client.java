package notifydelivery;

/** A producer's access to the service; threads may share a client. */
public final class Client extends Operations {
    /** Makes a client that sends no request before the first call. */
    public Client(Settings settings) {
        super(settings);
    }

    /** Makes a client with the default settings. */
    public Client(String url, String key) {
        this(new Settings(url, key));
    }
}
