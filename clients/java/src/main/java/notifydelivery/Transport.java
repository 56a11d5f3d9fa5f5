package notifydelivery;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import notifydelivery.NotifyException.Failed;

/** Sends calls, and repeats them with the same idempotency key. */
abstract class Transport {
    static final String KEY = "Idempotency-Key";
    private static final long FIRST_PAUSE = 500;
    private static final long LONGEST_PAUSE = 8_000;
    /** After a longer Retry-After the call fails at once, and the caller decides. */
    private static final Duration LONGEST_RETRY_AFTER = Duration.ofMinutes(1);
    private static final Set<Integer> UNAVAILABLE = Set.of(429, 502, 503, 504);
    /** Statuses of a proxy, which may have passed the request on. */
    private static final Set<Integer> FROM_A_PROXY = Set.of(502, 504);

    /** What the body of a success has to be. */
    private enum Answer {
        NOTHING,
        OBJECT,
        PAGE
    }

    private final Settings settings;
    private final HttpClient http;

    Transport(Settings settings) {
        this.settings = settings;
        // A redirect would turn a POST into a GET, or carry the key elsewhere.
        http = settings.http.get().version(HttpClient.Version.HTTP_1_1).followRedirects(HttpClient.Redirect.NEVER).build();
    }

    final <T> T value(Call call, Function<Map<String, Object>, T> type, Option... options) {
        return type.apply(send(call, null, Answer.OBJECT, options));
    }

    final <T> Page<T> page(Call call, Function<Map<String, Object>, T> type, Option... options) {
        return page(call, null, type, options);
    }

    final <T> Pages<T> list(Call call, Function<Map<String, Object>, T> type, Option... options) {
        return new Pages<>(cursor -> page(call, cursor, type, options));
    }

    final void nothing(Call call, Option... options) {
        send(call, null, Answer.NOTHING, options);
    }

    private <T> Page<T> page(Call call, String cursor, Function<Map<String, Object>, T> type, Option... options) {
        Map<String, Object> found = send(call, cursor, Answer.PAGE, options);
        Object next = found.get("next");
        return new Page<>(
                JsonObject.list(JsonObject.object(type)).apply(found.get("results")),
                next == null ? null : next.toString());
    }

    /** Repeats a call until the service answers or the retries are used up. */
    private Map<String, Object> send(Call call, String cursor, Answer expected, Option... options) {
        String key = key(call, options);
        HttpRequest request = request(call, cursor, key, options);
        boolean isRepeatable = !call.method.equals("POST") || call.takesKey;
        int unanswered = 0;
        for (int attempts = 1; ; attempts++) {
            NotifyException failure;
            Duration pause = Duration.ZERO;
            try {
                HttpResponse<byte[]> found = attempt(request, new Failed(call.operation, attempts, unanswered, key));
                Failed failed = new Failed(call.operation, attempts, unanswered, key);
                Map<String, Object> body = read(found, expected, failed, options);
                if (!call.has.isEmpty() && !body.containsKey(call.has)) {
                    throw new UnexpectedAnswerException(found.statusCode(), "but without " + call.has, failed);
                }
                return body;
            } catch (ConnectionException lost) {
                failure = lost;
            } catch (ProblemException refused) {
                failure = refused;
                pause = refused.retryAfter();
            }
            unanswered = failure.failed().unanswered();
            // An earlier request, whose answer was lost, has deleted the object.
            boolean isGone = failure instanceof ProblemException refused && refused.status() == 404 && unanswered > 0;
            if (isGone && call.method.equals("DELETE") && expected == Answer.NOTHING) {
                return Map.of();
            }
            boolean mayRepeat = isRepeatable || isUnsent(failure);
            if (attempts > settings.retries || !mayRepeat || !passes(failure)) {
                throw failure;
            }
            sleep(pause.toMillis() + backoff(attempts), failure.failed());
        }
    }

    /** Returns the idempotency key of the header; null: the operation takes none, or the body has the key. */
    private static String key(Call call, Option... options) {
        String key = null;
        for (Option each : options) {
            key = KEY.equals(each.header) ? each.value : key;
        }
        if (key != null && !call.takesKey) {
            throw new IllegalArgumentException(call.operation + " takes no idempotency key");
        }
        boolean isMissing = key == null && call.takesKey && !call.hasOwnKey && call.method.equals("POST");
        return isMissing ? randomKey() : key;
    }

    /** Sends a request once and reads the whole response within the timeout. */
    private HttpResponse<byte[]> attempt(HttpRequest request, Failed before) {
        Failed lost = new Failed(before.operation(), before.attempts(), before.unanswered() + 1, before.idempotencyKey());
        CompletableFuture<HttpResponse<byte[]>> answer = http.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray());
        HttpResponse<byte[]> found;
        try {
            found = answer.get(settings.timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException error) {
            throw new ConnectionException(isUnsent(error.getCause()) ? before : lost, error.getCause());
        } catch (TimeoutException error) {
            throw new ConnectionException(lost, error);
        } catch (InterruptedException error) {
            throw interrupted(lost, error);
        } finally {
            answer.cancel(true); // ends the request after a timeout; an answer that came stays
        }
        int status = found.statusCode();
        if (status >= 400) {
            throw problem(found, FROM_A_PROXY.contains(status) ? lost : before);
        }
        if (status == 304 && request.headers().firstValue("If-None-Match").isPresent() || status / 100 == 2) {
            return found;
        }
        throw new UnexpectedAnswerException(status, "which is no answer of the service", before);
    }

    private static boolean isUnsent(NotifyException failure) {
        return failure instanceof ConnectionException && isUnsent(failure.getCause());
    }

    /** Returns true if no connection was made, so that no byte of the request left. */
    private static boolean isUnsent(Throwable cause) {
        return cause instanceof java.net.ConnectException || cause instanceof java.net.http.HttpConnectTimeoutException;
    }

    private static void sleep(long milliseconds, Failed failed) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException error) {
            throw interrupted(failed, error);
        }
    }

    private static ConnectionException interrupted(Failed failed, InterruptedException error) {
        Thread.currentThread().interrupt();
        return new ConnectionException(failed, error);
    }

    private HttpRequest request(Call call, String cursor, String key, Option... options) {
        HttpRequest.Builder made = HttpRequest.newBuilder(URI.create(settings.base + call.target(cursor)))
                .method(call.method, HttpRequest.BodyPublishers.ofByteArray(call.body))
                .header("Authorization", settings.authorization())
                .header("User-Agent", "notify-delivery-client-java")
                .header("Accept", "application/json, application/problem+json");
        if (call.mediaType != null) {
            made.setHeader("Content-Type", call.mediaType);
        }
        for (Option each : options) {
            if (each.header != null) {
                made.setHeader(each.header, each.value);
            }
        }
        if (key != null) {
            made.setHeader(KEY, key);
        }
        return made.build();
    }

    private static Map<String, Object> read(
            HttpResponse<byte[]> found, Answer expected, Failed failed, Option... options) {
        int status = found.statusCode();
        boolean isReplayed = "true".equals(header(found, "Idempotent-Replayed"));
        ResponseHead head = new ResponseHead(status, header(found, "ETag"), header(found, "X-Request-Id"), isReplayed);
        for (Option each : options) {
            if (each.head != null) {
                each.head.accept(head);
            }
        }
        if (status == 304) {
            throw new NotModifiedException(failed);
        }
        if (expected == Answer.NOTHING && status != 204) {
            throw new UnexpectedAnswerException(status, "but not 204", failed);
        }
        Map<String, Object> body = expected == Answer.NOTHING ? Map.of() : object(found.body());
        if (body == null) {
            throw new UnexpectedAnswerException(status, "but no JSON object", failed);
        }
        if (expected == Answer.PAGE && !isPage(body)) {
            throw new UnexpectedAnswerException(status, "but no page of a list", failed);
        }
        return body;
    }

    private static boolean isPage(Map<String, Object> body) {
        return body.get("results") instanceof List<?> results && results.stream().allMatch(Map.class::isInstance);
    }

    private static ProblemException problem(HttpResponse<byte[]> found, Failed failed) {
        Map<String, Object> said = object(found.body());
        Duration retryAfter = retryAfter(header(found, "Retry-After"));
        return new ProblemException(
                found.statusCode(), said == null ? Map.of() : said, retryAfter, header(found, "X-Request-Id"), failed);
    }

    /** The JSON object of a body; null for anything else. */
    static Map<String, Object> object(byte[] body) {
        try {
            Object found = Json.read(new String(body, StandardCharsets.UTF_8));
            return found instanceof Map ? JsonObject.members(found) : null;
        } catch (IllegalArgumentException error) {
            return null;
        }
    }

    /** Tells whether the same request can be accepted later. */
    private static boolean passes(NotifyException failure) {
        if (failure instanceof ProblemException refused) {
            boolean isPassing = UNAVAILABLE.contains(refused.status()) || refused.code().equals("in-progress");
            return isPassing && refused.retryAfter().compareTo(LONGEST_RETRY_AFTER) <= 0;
        }
        return !Thread.currentThread().isInterrupted();
    }

    private static Duration retryAfter(String said) {
        if (said == null) {
            return Duration.ZERO;
        }
        if (said.matches("[0-9]+")) {
            return Duration.ofSeconds(said.length() > 9 ? 999_999_999 : Long.parseLong(said));
        }
        try {
            Instant until = ZonedDateTime.parse(said, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
            Duration left = Duration.between(Instant.now(), until);
            return left.isNegative() ? Duration.ZERO : left;
        } catch (DateTimeException error) {
            return Duration.ZERO;
        }
    }

    private static String header(HttpResponse<byte[]> found, String name) {
        return found.headers().firstValue(name).orElse(null);
    }

    /** Returns milliseconds that double with each attempt, with jitter: clients do not come back together. */
    private static long backoff(int attempts) {
        double grown = Math.min(LONGEST_PAUSE, FIRST_PAUSE * Math.pow(2, attempts - 1));
        return (long) (grown * ThreadLocalRandom.current().nextDouble(0.5, 1));
    }

    /** Returns 128 random bits: two calls never have the same key by chance. */
    private static String randomKey() {
        byte[] bits = new byte[16];
        new SecureRandom().nextBytes(bits);
        return HexFormat.of().formatHex(bits);
    }
}
