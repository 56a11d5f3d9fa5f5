package notifydelivery;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** A JSON object with typed methods; the base of the generated types. */
public abstract class JsonObject {
    private final Map<String, Object> members;

    JsonObject() {
        this(new LinkedHashMap<>());
    }

    JsonObject(Map<String, Object> members) {
        this.members = members;
    }

    /** The members by their names of the API, also those of later versions of the service. */
    public final Map<String, Object> json() {
        return Collections.unmodifiableMap(members);
    }

    /** The names of the members: values can be personal, and texts of objects end in logs. */
    @Override
    public final String toString() {
        return getClass().getSimpleName() + members.keySet();
    }

    final <T> T read(String name, Function<Object, T> reader) {
        Object found = members.get(name);
        try {
            return found == null ? null : reader.apply(found);
        } catch (ClassCastException | ArithmeticException | DateTimeException error) {
            throw new IllegalStateException(name + " has another type: json() has its value", error);
        }
    }

    /** Sets a member; null is sent as null. */
    final void set(String name, Object value) {
        members.put(name, plain(value));
    }

    private static Object plain(Object value) {
        if (value instanceof JsonObject object) {
            return object.members;
        }
        if (value instanceof List<?> items) {
            return list(JsonObject::plain).apply(items);
        }
        if (value instanceof Map<?, ?> map) {
            return map(JsonObject::plain).apply(map);
        }
        return value instanceof Instant at ? at.toString() : value;
    }

    static Object any(Object value) {
        return value;
    }

    static String text(Object value) {
        return (String) value;
    }

    static Boolean flag(Object value) {
        return (Boolean) value;
    }

    static Long integer(Object value) {
        return value instanceof BigDecimal decimal ? (Long) decimal.longValueExact() : ((Number) value).longValue();
    }

    static Double number(Object value) {
        return ((Number) value).doubleValue();
    }

    static Instant instant(Object value) {
        return OffsetDateTime.parse((String) value).toInstant();
    }

    @SuppressWarnings("unchecked") // the names of a JSON object are text
    static Map<String, Object> members(Object value) {
        return (Map<String, Object>) value;
    }

    static <T> Function<Object, T> object(Function<Map<String, Object>, T> type) {
        return value -> type.apply(members(value));
    }

    static <T> Function<Object, List<T>> list(Function<Object, T> reader) {
        return value -> {
            List<T> found = new ArrayList<>();
            for (Object each : (List<?>) value) {
                found.add(each == null ? null : reader.apply(each));
            }
            return found;
        };
    }

    static <T> Function<Object, Map<String, T>> map(Function<Object, T> reader) {
        return value -> {
            Map<String, T> found = new LinkedHashMap<>();
            members(value).forEach((name, each) -> found.put(name, each == null ? null : reader.apply(each)));
            return found;
        };
    }
}
