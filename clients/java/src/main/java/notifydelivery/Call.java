package notifydelivery;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** An operation with its arguments. */
final class Call {
    final String operation;
    final String method;
    private final String path;
    private Map<String, Object> query = Map.of();
    byte[] body = new byte[0];
    String mediaType;
    String has = "";
    boolean takesKey;
    boolean hasOwnKey;

    Call(String operation, Object... at) {
        this.operation = operation;
        int space = operation.indexOf(' ');
        method = operation.substring(0, space);
        StringBuilder made = new StringBuilder(operation.substring(space + 1));
        for (Object each : at) {
            String part = String.valueOf(each);
            if (each == null || part.isEmpty() || part.equals(".") || part.equals("..")) {
                throw new IllegalArgumentException(operation + ": a part of the path must not be empty, . or ..");
            }
            made.replace(made.indexOf("{"), made.indexOf("}") + 1, encoded(part));
        }
        path = made.toString();
    }

    Call query(JsonObject given) {
        query = new LinkedHashMap<>(given.json());
        return this;
    }

    /** Encodes the body at once, so that all attempts send the same bytes. */
    Call body(JsonObject given) {
        mediaType = "application/json";
        body = Json.write(given.json()).getBytes(StandardCharsets.UTF_8);
        hasOwnKey = given.json().get("idempotency_key") != null;
        return this;
    }

    Call file(byte[] content, String type) {
        mediaType = type;
        body = content.clone();
        return this;
    }

    /** Names a field of each answer, which the object of a proxy lacks. */
    Call has(String field) {
        has = field;
        return this;
    }

    Call takesKey() {
        takesKey = true;
        return this;
    }

    /** The path and query; a list is a parameter for each item. */
    String target(String cursor) {
        StringJoiner pairs = new StringJoiner("&", "?", "").setEmptyValue("");
        query.forEach((name, value) -> {
            boolean isReplaced = value == null || cursor != null && name.equals("cursor");
            for (Object each : isReplaced ? List.of() : value instanceof List<?> items ? items : List.of(value)) {
                pairs.add(name + "=" + encoded(String.valueOf(each)));
            }
        });
        if (cursor != null) {
            pairs.add("cursor=" + encoded(cursor));
        }
        return path + pairs;
    }

    /** Encodes a part of the path or query; half a surrogate pair would become a question mark. */
    private String encoded(String text) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw new IllegalArgumentException(operation + ": text with half a surrogate pair cannot be sent");
        }
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
