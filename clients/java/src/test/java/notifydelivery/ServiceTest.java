package notifydelivery;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import notifydelivery.Types.*;

/** The program of tests/clients/test_java.py: it ends with an exception where an expectation fails. */
public final class ServiceTest {
    private static final Map<String, Object> SETTING =
            JsonObject.members(Json.read(System.getenv("NOTIFY_TEST_SETTING")));
    private static final String KEY = (String) SETTING.get("key");
    private static final String USER_ID = (String) SETTING.get("user_id");
    private static final Client CLIENT = new Client((String) SETTING.get("url"), KEY);
    private static ResponseHead head;

    private ServiceTest() {}

    public static void main(String[] arguments) throws Exception {
        calls();
        changeRecipient();
        listPages();
        errors();
        relay();
        webhooks();
        json();
    }

    private static void expect(boolean holds, String said, Object... seen) {
        if (!holds) {
            throw new AssertionError(said + " " + Arrays.toString(seen));
        }
    }

    /** A call that cannot be right. */
    private interface Wrong {
        void call() throws Exception;
    }

    private static <E extends Exception> E expect(Class<E> type, Wrong wrong) {
        try {
            wrong.call();
        } catch (Exception error) {
            expect(type.isInstance(error), "an error of another type", error);
            return type.cast(error);
        }
        throw new AssertionError("no error");
    }

    private static Option keepHead() {
        return Option.head(each -> head = each);
    }

    private static NotificationRequest mail(String reference) {
        return new NotificationRequest()
                .userId(USER_ID)
                .type("HELLO")
                .priority(Priority.P2)
                .channels(List.of(Channel.EMAIL))
                .content(new Content().title("Hello").body("Hello \"you\" \\ \t ✓ \uD83D\uDE00"))
                .metadata(Map.of("reference", USER_ID + reference));
    }

    private static void calls() {
        ContactRequest contact = new ContactRequest().channel(Channel.EMAIL).address(USER_ID + "@sandbox.example");
        RecipientRequest person = new RecipientRequest().locale("de").timezone("Europe/Berlin").contacts(List.of(contact));
        CLIENT.putRecipient(USER_ID, person, keepHead());
        expect(head.status() == 201, "a new recipient", head);
        Option key = Option.idempotencyKey(USER_ID);
        NotificationAccepted first = CLIENT.createNotification(mail("-same"), key);
        NotificationAccepted again = CLIENT.createNotification(mail("-same"), key, keepHead());
        expect(first.notificationId().equals(again.notificationId()) && head.replayed(), "one notification", head);
        BatchRequest two = new BatchRequest().notifications(List.of(mail("-batch"), new NotificationRequest().type("X")));
        BatchAccepted batch = CLIENT.createNotifications(two);
        expect(batch.summary().accepted() == 1 && batch.summary().rejected() == 1, "a result for each item", batch.json());
        NotificationDetail detail = CLIENT.getNotification(first.notificationId());
        expect(detail.userId().equals(USER_ID) && detail.createdAt().isBefore(Instant.now().plusSeconds(60)), "it", detail.json());
        expect(detail.deliveries().get(0).channel().equals(Channel.EMAIL), "a delivery", detail.json());
    }

    private static void changeRecipient() {
        RecipientAnswer known = CLIENT.getRecipient(USER_ID, keepHead());
        expect(known.timezone().equals("Europe/Berlin"), "the timezone", known.json());
        Option unchanged = Option.ifNoneMatch(head.etag());
        Option same = Option.ifMatch(head.etag());
        expect(NotModifiedException.class, () -> CLIENT.getRecipient(USER_ID, unchanged));
        CLIENT.defineAttribute("compiled_plan", new AttributeRequest().kind(AttributeKind.TEXT));
        Map<String, Object> attributes = new HashMap<>();
        attributes.put("compiled_plan", null);
        RecipientChange change = new RecipientChange().locale("fr").attributes(attributes);
        expect(CLIENT.changeRecipient(USER_ID, change, same).locale().equals("fr"), "the new locale");
        ProblemException old =
                expect(ProblemException.class, () -> CLIENT.changeRecipient(USER_ID, new RecipientChange().locale("it"), same));
        expect(old.status() == 412, "an old ETag", old);
        Instant later = Instant.now().plusSeconds(3600);
        ChangePreferencesQuery query = new ChangePreferencesQuery();
        PreferencesRequest quiet = new PreferencesRequest().doNotDisturbUntil(later).channelsOff(List.of());
        expect(CLIENT.changePreferences(USER_ID, query, quiet).doNotDisturbUntil() != null, "quiet");
        quiet = new PreferencesRequest().doNotDisturbUntil(null);
        expect(CLIENT.changePreferences(USER_ID, query, quiet).doNotDisturbUntil() == null, "null ends the quiet time");
    }

    private static void listPages() {
        ListNotificationsQuery query = new ListNotificationsQuery()
                .userId(USER_ID)
                .limit(1L)
                .status(List.of(Status.QUEUED, Status.SCHEDULED))
                .since(Instant.now().minusSeconds(3600));
        Pages<NotificationLine> list = CLIENT.listNotifications(query);
        List<String> found = new ArrayList<>();
        for (NotificationLine each : list) {
            found.add(each.notificationId());
        }
        expect(found.size() == 2, "two pages with an item each", found);
        for (Page<NotificationLine> page : list.pages()) {
            page.results().forEach(each -> found.remove(each.notificationId()));
        }
        expect(found.isEmpty(), "the same by pages", found);
    }

    private static void errors() {
        ProblemException refused =
                expect(ProblemException.class, () -> CLIENT.createNotification(mail("-nobody").userId("nobody")));
        expect(refused.status() == 422 && refused.code().equals("unknown-recipient"), "a problem", refused);
        expect(refused.failed().attempts() == 1 && refused.failed().idempotencyKey() != null, "facts", refused.failed());
        expect(refused.requestId() != null, "the id of the request", refused);
        refused = expect(ProblemException.class, () -> CLIENT.createNotification(new NotificationRequest().userId(USER_ID)));
        expect(refused.errors().get(0).pointer().equals("/type"), "a pointer", refused);
        List<Wrong> wrongs = List.of(
                () -> CLIENT.getRecipient(".."),
                () -> CLIENT.getRecipient("\uD800"),
                () -> CLIENT.createNotification(mail(""), Option.idempotencyKey("a ")),
                () -> CLIENT.deleteSchedule(1, Option.ifMatch("")),
                () -> CLIENT.getMe(Option.idempotencyKey("a")),
                () -> new Client((String) SETTING.get("url"), "nk_live_verysecret\n"),
                () -> new Client("https://a:verysecret@example.com", "k"));
        for (Wrong each : wrongs) {
            IllegalArgumentException error = expect(IllegalArgumentException.class, each);
            expect(!error.getMessage().contains("verysecret"), "no secret", error);
        }
        refused = expect(ProblemException.class, () -> CLIENT.getRecipient("a/b {user_id}%2e?c=d#e"));
        expect(refused.code().equals("not-found"), "a name with any letters", refused);
        expect(!(refused + CLIENT.toString()).contains(KEY), "no text shows the key");
    }

    /** Makes the calls for which tests/clients/compiled.py has planned the answers. */
    private static void relay() {
        Settings settings = new Settings((String) SETTING.get("relay"), KEY);
        Client client = new Client(settings);
        client.createNotification(mail("-lost"), keepHead());
        expect(head.replayed(), "the first answer again", head);
        client.createNotification(mail("-own").idempotencyKey(USER_ID + " ✓"));
        ClientTokenRequest token = new ClientTokenRequest().scopes(List.of(TokenScope.INBOX_READ));
        ConnectionException lost = expect(ConnectionException.class, () -> client.issueClientToken(USER_ID, token));
        expect(lost.failed().attempts() == 1 && lost.failed().unanswered() == 1, "no repeat without a key", lost);
        Client nobody = new Client(new Settings("http://127.0.0.1:1", KEY).retries(1));
        lost = expect(ConnectionException.class, () -> nobody.uploadAudience(
                new UploadAudienceQuery(), "user_id\n".getBytes(java.nio.charset.StandardCharsets.UTF_8), "text/csv"));
        expect(lost.failed().attempts() == 2 && lost.failed().unanswered() == 0, "a repeat without a connection", lost);
        ProblemException refused = expect(ProblemException.class, client::getMe);
        expect(refused.retryAfter().equals(Duration.ofHours(1)), "a long Retry-After", refused);
        expect(refused.failed().attempts() == 1, "no repeat after a long Retry-After", refused.failed());
        refused = expect(ProblemException.class, client::getMe);
        expect(refused.errors().isEmpty(), "errors of a proxy", refused.details().json());
        expect(refused.status() == 500 && refused.code().isEmpty(), "no repeat of a 500", refused);
        refused = expect(ProblemException.class, client::getMe);
        expect(refused.failed().attempts() == 1, "no repeat after a huge Retry-After", refused.failed());
        expect(UnexpectedAnswerException.class, () -> client.listNotifications(new ListNotificationsQuery()).iterator().hasNext());
        UnexpectedAnswerException page =
                expect(UnexpectedAnswerException.class, () -> client.createNotification(mail("-proxy")));
        expect(page.getMessage().contains("200, but without notification_id"), "an object of a proxy", page);
        expect(expect(UnexpectedAnswerException.class, client::getMe).status() == 302, "a redirect");
        expect(expect(UnexpectedAnswerException.class, client::getMe).status() == 200, "a page of a proxy");
        NotificationAccepted later = client.createNotification(mail("-later"));
        expect(later.status().equals("teleported"), "a later word", later.json());
        expect(later.deliveries().get(0).json().containsKey("field_of_a_later_version"), "a later field", later.json());
        CLIENT.subscribe(USER_ID, USER_ID);
        client.deleteTopic(USER_ID);
        refused = expect(ProblemException.class, () -> client.subscribe(USER_ID, "nobody"));
        expect(refused.failed().unanswered() == 1, "no success after a lost answer", refused);
        expect(UnexpectedAnswerException.class, () -> client.unsubscribe(USER_ID, USER_ID));
        Client hasty = new Client(settings.timeout(Duration.ofMillis(300)).retries(0));
        SearchQuery query = new SearchQuery().address("maria@example.com");
        for (String what : List.of("no answer", "an answer that never ends")) {
            lost = expect(ConnectionException.class, () -> hasty.search(query));
            expect(lost.getCause() instanceof java.util.concurrent.TimeoutException, what, lost.getCause());
            expect(!(lost + " " + query).contains("maria"), "no address in a text", lost);
        }
    }

    private static void webhooks() throws Exception {
        for (Object given : (List<?>) SETTING.get("webhooks")) {
            Map<String, Object> each = JsonObject.members(given);
            String[] secrets = JsonObject.list(JsonObject::text).apply(each.get("secrets")).toArray(String[]::new);
            WebhookVerifier verifier = new WebhookVerifier(secrets);
            byte[] body = Base64.getDecoder().decode((String) each.get("body"));
            Map<String, List<String>> headers = new HashMap<>();
            JsonObject.members(each.get("headers"))
                    .forEach((name, value) -> headers.put(name.toUpperCase(), List.of((String) value)));
            Instant now = Instant.ofEpochSecond((Long) each.get("now"));
            Wrong verify = () -> verifier.verify(body, headers, now, WebhookVerifier.TOLERANCE);
            switch ((String) each.get("error")) {
                case "":
                    Webhook found = verifier.verify(body, headers, now, WebhookVerifier.TOLERANCE);
                    expect(found.id().equals("msg_1") && found.type().equals("notification"), "a webhook", each, found);
                    break;
                case "signature":
                    expect(InvalidSignatureException.class, verify);
                    break;
                default:
                    expect(IllegalArgumentException.class, verify);
            }
        }
        for (String secret : List.of("", "whsec_", "verysecret", "whsec_verysecret", "whsec_dmVyeXNlY3JldA==")) {
            IllegalArgumentException error = expect(IllegalArgumentException.class, () -> new WebhookVerifier(secret));
            expect(!error.getMessage().contains("verysecret"), "no secret", error);
        }
        expect(IllegalArgumentException.class, () -> new WebhookVerifier());
    }

    private static void json() {
        String text = "{\"a\":[1,-2.5,1e3,12345678901234567890,true,false,null,\"\\u00e9\\n\\\"\"],\"b\":{},\"c\":[]}";
        Object found = Json.read(" " + text + "\n");
        expect(Json.read(Json.write(found)).equals(found), "the same after a round", found);
        for (String wrong : List.of("", "{", "[1,]", "{\"a\" 1}", "01", "1.", "+1", "\"\t\"", "\"\\x\"", "\"\\u12\"", "nul", "1 2", "NaN", "-", "1".repeat(2000))) {
            expect(IllegalArgumentException.class, () -> Json.read(wrong));
        }
        String deep = String.join("", Collections.nCopies(100_000, "["));
        expect(IllegalArgumentException.class, () -> Json.read(deep));
        expect(IllegalArgumentException.class, () -> Json.write(Double.NaN));
        RecipientAnswer large = new RecipientAnswer(JsonObject.members(Json.read("{\"version\":12345678901234567890}")));
        expect(IllegalStateException.class, () -> large.read("version", JsonObject::integer));
    }
}
