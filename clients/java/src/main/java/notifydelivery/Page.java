package notifydelivery;

import java.util.List;

/**
 * A part of a list.
 *
 * @param results the items
 * @param next the cursor of the next page; null after the last page
 */
public record Page<T>(List<T> results, String next) {}
