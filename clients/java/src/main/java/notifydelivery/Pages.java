package notifydelivery;

import java.util.HashSet;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.StreamSupport;

/** A list that is read page after page; each iteration reads the pages anew. */
public final class Pages<T> implements Iterable<T> {
    private final Function<String, Page<T>> read;

    Pages(Function<String, Page<T>> read) {
        this.read = read;
    }

    /** Iterates over the items. */
    @Override
    public Iterator<T> iterator() {
        return StreamSupport.stream(pages().spliterator(), false).flatMap(each -> each.results().stream()).iterator();
    }

    /** Iterates over the pages. */
    public Iterable<Page<T>> pages() {
        return () -> new Iterator<>() {
            private final Set<String> seen = new HashSet<>();
            private String cursor;
            private boolean isDone;

            @Override
            public boolean hasNext() {
                return !isDone;
            }

            @Override
            public Page<T> next() {
                if (isDone) {
                    throw new NoSuchElementException();
                }
                Page<T> page = read.apply(cursor);
                cursor = page.next();
                isDone = cursor == null;
                if (!isDone && !seen.add(cursor)) {
                    throw new IllegalStateException("the list repeats a page, so its iteration would never end");
                }
                return page;
            }
        };
    }
}
