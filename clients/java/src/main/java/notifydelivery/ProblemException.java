package notifydelivery;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import notifydelivery.Types.FieldProblem;
import notifydelivery.Types.ProblemDetails;

/** A refusal by the service, with the fields of RFC 9457 problem details. */
public final class ProblemException extends NotifyException {
    private static final long serialVersionUID = 1;
    private final int status;
    private final Duration retryAfter;
    private final String requestId;
    private final transient ProblemDetails details;

    ProblemException(int status, Map<String, Object> problem, Duration retryAfter, String requestId, Failed failed) {
        super(said(status, problem), failed, null);
        this.status = status;
        this.retryAfter = retryAfter;
        this.requestId = requestId;
        this.details = new ProblemDetails(problem);
    }

    private static String said(int status, Map<String, Object> problem) {
        String title = problem.get("title") instanceof String text ? " " + text : "";
        String detail = problem.get("detail") instanceof String text && !text.isEmpty() ? ": " + text : "";
        return status + title + detail;
    }

    /** The HTTP status. */
    public int status() {
        return status;
    }

    /** The code for programs, such as {@code invalid} or {@code rate-limited}; empty for a proxy's response. */
    public String code() {
        return details != null && details.json().get("code") instanceof String code ? code : "";
    }

    /** The invalid places of the request, with RFC 6901 JSON pointers. */
    public List<FieldProblem> errors() {
        Object found = details == null ? null : details.json().get("errors");
        if (!(found instanceof List<?> items)) {
            return List.of(); // a proxy's response can have other errors
        }
        return items.stream().filter(Map.class::isInstance).map(JsonObject.object(FieldProblem::new)).toList();
    }

    /** The problem document; empty for a proxy's response, null after a serialization. */
    public ProblemDetails details() {
        return details;
    }

    /** The id of the request in the service's logs, or null. */
    public String requestId() {
        return requestId;
    }

    /** The time until the same call can be accepted; zero: the service named none. */
    public Duration retryAfter() {
        return retryAfter;
    }
}
