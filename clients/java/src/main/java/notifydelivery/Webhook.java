package notifydelivery;

import java.time.Instant;
import java.util.Map;

/**
 * A webhook with a valid signature.
 *
 * @param id equal for every repeat: store the id to detect duplicates
 * @param timestamp the time of the signature
 * @param type says which type has the data: {@link Types.NotificationEventData}, {@link
 *     Types.ContactEventData} or {@link Types.BulkJobEventData}; later versions may send further types
 * @param data the event's data, for the constructor of that type
 */
public record Webhook(String id, Instant timestamp, String type, Map<String, Object> data) {}
