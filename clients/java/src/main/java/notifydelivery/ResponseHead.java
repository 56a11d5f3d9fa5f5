package notifydelivery;

/**
 * Facts about a response beside its body.
 *
 * @param status the HTTP status; 201 of a PUT: the object was created
 * @param etag the ETag of the object's version, or null
 * @param requestId the id of the request in the service's logs, or null
 * @param replayed true if the service had answered the same key and body before
 */
public record ResponseHead(int status, String etag, String requestId, boolean replayed) {}
