package notifydelivery;

import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.function.Supplier;

/** How to reach the service; each method returns changed settings. */
public final class Settings {
    final String base;
    private final String key;
    final Duration timeout;
    final int retries;
    final Supplier<HttpClient.Builder> http;

    /**
     * Checks address and key.
     *
     * @param url the service's address, with or without a path in front of /v1
     * @param key the producer's API key, {@code nk_live_...} or {@code nk_test_...}
     * @throws IllegalArgumentException one of them is not valid; the message contains neither
     */
    public Settings(String url, String key) {
        this(base(url), key, Duration.ofSeconds(30), 4, HttpClient::newBuilder);
        if (key == null || !key.matches("[!-~]+")) {
            throw new IllegalArgumentException("the key must be the producer's key, without spaces or line ends");
        }
    }

    private Settings(String base, String key, Duration timeout, int retries, Supplier<HttpClient.Builder> http) {
        this.base = base;
        this.key = key;
        this.timeout = timeout;
        this.retries = retries;
        this.http = http;
    }

    /** Sets the timeout of a request with its response; the default is 30 s. */
    public Settings timeout(Duration longest) {
        if (longest.isNegative() || longest.isZero()) {
            throw new IllegalArgumentException("the timeout must be positive");
        }
        return new Settings(base, key, longest, retries, http);
    }

    /** Sets the largest number of repeats of a call; the default is 4, 0 means none. */
    public Settings retries(int most) {
        return new Settings(base, key, timeout, most, http);
    }

    /** Sets the builder of the connections, for a proxy or a TLS context. Redirects are not followed. */
    public Settings http(Supplier<HttpClient.Builder> builder) {
        return new Settings(base, key, timeout, retries, builder);
    }

    String authorization() {
        return "Bearer " + key;
    }

    private static String base(String url) {
        URI found;
        try {
            found = URI.create(url);
        } catch (IllegalArgumentException | NullPointerException error) {
            throw new IllegalArgumentException("the URL must be like https://notify.example.com");
        }
        if (found.getHost() == null || !("https".equals(found.getScheme()) || "http".equals(found.getScheme()))) {
            throw new IllegalArgumentException("the URL must be like https://notify.example.com");
        }
        if (found.getUserInfo() != null || found.getQuery() != null || found.getFragment() != null) {
            throw new IllegalArgumentException("the URL must have no user, password, query or fragment");
        }
        return url.replaceAll("/+$", "");
    }
}
