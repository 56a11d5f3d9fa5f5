package notifydelivery;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Reads and writes JSON (RFC 8259): Map, List, String, Boolean, null, and as numbers Long, or
 * BigDecimal where a Long cannot hold the value.
 */
final class Json {
    /** Deeper values are refused, because each level takes a part of the thread's stack. */
    private static final int DEEPEST = 200;

    private static final Pattern LITERAL =
            Pattern.compile("true|false|null|-?(?:0|[1-9][0-9]{0,999}+)(?:\\.[0-9]{1,999}+)?(?:[eE][+-]?[0-9]{1,4})?");
    private static final Pattern CODE = Pattern.compile("[0-9a-fA-F]{4}");

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /** @throws IllegalArgumentException the text is no JSON */
    static Object read(String text) {
        Json reader = new Json(text);
        Object found = reader.value();
        if (reader.next() != '\0' || reader.at < text.length()) {
            throw reader.wrong();
        }
        return found;
    }

    /** @throws IllegalArgumentException a value has no JSON */
    static String write(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(each -> quoted((String) each.getKey()) + ":" + write(each.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List<?> list) {
            return list.stream().map(Json::write).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof String string) {
            return quoted(string);
        }
        boolean isNumber = value instanceof Number number
                && (value instanceof BigDecimal || Double.isFinite(number.doubleValue()));
        if (value == null || value instanceof Boolean || isNumber) {
            return String.valueOf(value);
        }
        throw new IllegalArgumentException("a " + value.getClass().getName() + " cannot be sent as JSON");
    }

    private Object value() {
        char first = next();
        if (first == '"') {
            return string();
        }
        if (first != '{' && first != '[') {
            return literal();
        }
        if (++depth > DEEPEST) {
            throw wrong();
        }
        at++;
        Object found = first == '{' ? object() : array();
        depth--;
        return found;
    }

    private Map<String, Object> object() {
        Map<String, Object> found = new LinkedHashMap<>();
        for (boolean isMore = !ends('}'); isMore; isMore = goesOn('}')) {
            String name = next() == '"' ? string() : null;
            if (name == null || next() != ':') {
                throw wrong();
            }
            at++;
            found.put(name, value());
        }
        return found;
    }

    private List<Object> array() {
        List<Object> found = new ArrayList<>();
        for (boolean isMore = !ends(']'); isMore; isMore = goesOn(']')) {
            found.add(value());
        }
        return found;
    }

    private boolean ends(char end) {
        boolean isEnd = next() == end;
        at += isEnd ? 1 : 0;
        return isEnd;
    }

    private boolean goesOn(char end) {
        if (ends(end)) {
            return false;
        }
        if (!ends(',')) {
            throw wrong();
        }
        return true;
    }

    private String string() {
        StringBuilder found = new StringBuilder();
        at++;
        for (char letter = letter(); letter != '"'; letter = letter()) {
            if (letter < ' ') {
                throw wrong();
            }
            found.append(letter == '\\' ? escaped() : letter);
        }
        return found.toString();
    }

    private char escaped() {
        char letter = letter();
        int known = "\"\\/bfnrt".indexOf(letter);
        if (known >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(known);
        }
        Matcher code = CODE.matcher(text).region(at, text.length());
        if (letter != 'u' || !code.lookingAt()) {
            throw wrong();
        }
        at += 4;
        return (char) Integer.parseInt(code.group(), 16);
    }

    private Object literal() {
        Matcher found = LITERAL.matcher(text).region(at, text.length());
        if (!found.lookingAt()) {
            throw wrong();
        }
        at = found.end();
        return switch (found.group()) {
            case "true" -> true;
            case "false" -> false;
            case "null" -> null;
            default -> found.group().matches("-?[0-9]{1,18}") ? Long.valueOf(found.group()) : new BigDecimal(found.group());
        };
    }

    private char letter() {
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at++);
    }

    /** Skips white space and returns the letter behind it; NUL at the end. */
    private char next() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at);
    }

    private static String quoted(String text) {
        StringBuilder made = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            if (letter == '"' || letter == '\\') {
                made.append('\\').append(letter);
            } else if (letter < ' ' || Character.isSurrogate(letter)) {
                made.append(String.format("\\u%04x", (int) letter));
            } else {
                made.append(letter);
            }
        }
        return made.append('"').toString();
    }
}
