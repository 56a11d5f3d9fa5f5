package notifydelivery;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies webhooks that are signed as Standard Webhooks says; threads may share a verifier. */
public final class WebhookVerifier {
    /** The largest difference between the timestamp of a webhook and the clock. */
    public static final Duration TOLERANCE = Duration.ofMinutes(5);

    private static final String PREFIX = "whsec_";
    private static final int SHORTEST = 24;
    private static final int LONGEST = 64;
    /** Each signature costs a comparison per secret. The service sends a signature per valid secret. */
    private static final int MOST_SIGNATURES = 20;

    private final List<byte[]> secrets = new ArrayList<>();

    /**
     * Takes the secrets {@code whsec_...}, several during a rotation.
     *
     * @throws IllegalArgumentException a secret is not valid; the message does not contain the secret
     */
    public WebhookVerifier(String... secrets) {
        if (secrets.length == 0) {
            throw new IllegalArgumentException("at least one secret is needed");
        }
        for (String each : secrets) {
            byte[] secret = each != null && each.startsWith(PREFIX) ? decoded(each.substring(PREFIX.length())) : new byte[0];
            if (secret.length < SHORTEST || secret.length > LONGEST) {
                throw new IllegalArgumentException(
                        "a secret is " + PREFIX + " and the base64 of " + SHORTEST + " to " + LONGEST + " bytes");
            }
            this.secrets.add(secret);
        }
    }

    /** Verifies at the present time of this machine's clock; see the other method. */
    public Webhook verify(byte[] body, Map<String, List<String>> headers) throws InvalidSignatureException {
        return verify(body, headers, Instant.now(), TOLERANCE);
    }

    /**
     * Verifies a webhook.
     *
     * @param body the unchanged bytes of the request
     * @param headers the headers of the request, with names in any case
     * @param now the time to compare the timestamp with
     * @param tolerance the largest difference of the timestamp
     * @throws InvalidSignatureException the webhook is not of the service
     * @throws IllegalArgumentException the signature is right, but the body is no webhook
     */
    public Webhook verify(byte[] body, Map<String, List<String>> headers, Instant now, Duration tolerance)
            throws InvalidSignatureException {
        String id = header(headers, "webhook-id");
        String timestamp = header(headers, "webhook-timestamp");
        if (id.isEmpty() || !timestamp.matches("[0-9]{1,12}")) {
            throw new InvalidSignatureException("webhook-id or webhook-timestamp is missing or malformed");
        }
        Instant signedAt = Instant.ofEpochSecond(Long.parseLong(timestamp));
        if (Duration.between(signedAt, now).abs().compareTo(tolerance) > 0) {
            throw new InvalidSignatureException("webhook-timestamp is too far from this machine's clock");
        }
        ByteArrayOutputStream signed = new ByteArrayOutputStream();
        signed.writeBytes((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
        signed.writeBytes(body);
        if (!matches(signed.toByteArray(), header(headers, "webhook-signature"))) {
            throw new InvalidSignatureException("webhook-signature does not match");
        }
        Map<String, Object> content = Transport.object(body);
        if (content == null || !(content.get("type") instanceof String type) || !(content.get("data") instanceof Map)) {
            throw new IllegalArgumentException("the signature is right, but the body is no JSON object of a webhook");
        }
        return new Webhook(id, signedAt, type, JsonObject.members(content.get("data")));
    }

    /** Compares in constant time, and all signatures, also after a match. */
    private boolean matches(byte[] signed, String said) {
        List<String> given = Arrays.stream(said.split(" ")).limit(MOST_SIGNATURES).toList();
        boolean found = false;
        for (byte[] secret : secrets) {
            String expected = "v1," + Base64.getEncoder().encodeToString(signature(secret, signed));
            for (String each : given) {
                found |= MessageDigest.isEqual(
                        expected.getBytes(StandardCharsets.UTF_8), each.getBytes(StandardCharsets.UTF_8));
            }
        }
        return found;
    }

    private static byte[] signature(byte[] secret, byte[] signed) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            return mac.doFinal(signed);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException("each JDK has HmacSHA256", error);
        }
    }

    private static byte[] decoded(String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException error) {
            return new byte[0];
        }
    }

    private static String header(Map<String, List<String>> headers, String name) {
        for (Map.Entry<String, List<String>> each : headers.entrySet()) {
            if (name.equalsIgnoreCase(each.getKey())) {
                return String.join(" ", each.getValue());
            }
        }
        return "";
    }
}
