package notify

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

var setting struct {
	URL, Key, Relay string
	UserID          string `json:"user_id"`
	Webhooks        []struct {
		Name, Body, Error string
		Headers           map[string]string
		Secrets           []string
		Now               int64
	}
}

func TestMain(m *testing.M) {
	given, isGiven := os.LookupEnv("NOTIFY_TEST_SETTING")
	if !isGiven {
		fmt.Println("skipped: tests/clients/test_go.py of the service runs these tests with a service")
		return
	}
	if err := json.Unmarshal([]byte(given), &setting); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

var ctx = context.Background()

func connect(t *testing.T, url string, timeout time.Duration) *Client {
	t.Helper()
	client, err := New(Settings{URL: url, Key: setting.Key, Timeout: timeout})
	must(t, err)
	return client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, holds bool, said string, seen ...any) {
	t.Helper()
	if !holds {
		t.Fatal(append([]any{said}, seen...)...)
	}
}

func mail(reference string) NotificationRequest {
	return NotificationRequest{
		UserID: &setting.UserID, Type: "HELLO", Priority: Ptr(PriorityP2), Channels: []Channel{ChannelEmail},
		Content:  &Content{Title: Ptr("Hello"), Body: "Hello <b>&</b> ✓"},
		Metadata: map[string]any{"reference": setting.UserID + reference},
	}
}

func TestCalls(t *testing.T) {
	client := connect(t, setting.URL, 0)
	var head ResponseHead
	person := RecipientRequest{
		Locale: Ptr("de"), Timezone: Ptr("Europe/Berlin"),
		Contacts: []ContactRequest{{Channel: ChannelEmail, Address: setting.UserID + "@sandbox.example"}},
	}
	_, err := client.PutRecipient(ctx, setting.UserID, person, Head(&head))
	must(t, err)
	expect(t, head.Status == http.StatusCreated, "a new recipient", head)
	first, err := client.CreateNotification(ctx, mail("-same"), IdempotencyKey(setting.UserID))
	must(t, err)
	again, err := client.CreateNotification(ctx, mail("-same"), IdempotencyKey(setting.UserID), Head(&head))
	must(t, err)
	expect(t, first.NotificationID == again.NotificationID && head.Replayed, "one notification", first, again)
	batch, err := client.CreateNotifications(ctx, BatchRequest{Notifications: []NotificationRequest{mail("-batch"), {Type: "X"}}})
	must(t, err)
	expect(t, batch.Summary.Accepted == 1 && batch.Summary.Rejected == 1, "a result for each item", batch)
	detail, err := client.GetNotification(ctx, first.NotificationID)
	must(t, err)
	expect(t, detail.UserID == setting.UserID && !detail.CreatedAt.IsZero(), "the notification", detail)
	changeRecipient(t, client)
	listPages(t, client)
}

func changeRecipient(t *testing.T, client *Client) {
	var head ResponseHead
	known, err := client.GetRecipient(ctx, setting.UserID, Head(&head))
	must(t, err)
	expect(t, known.Timezone == "Europe/Berlin", "the timezone", known)
	_, err = client.GetRecipient(ctx, setting.UserID, IfNoneMatch(head.ETag))
	expect(t, errors.Is(err, ErrNotModified), "an unchanged recipient", err)
	_, err = client.DefineAttribute(ctx, "compiled_plan", AttributeRequest{Kind: AttributeKindText})
	must(t, err)
	attributes := map[string]any{"compiled_plan": nil}
	changed, err := client.ChangeRecipient(ctx, setting.UserID,
		RecipientChange{Locale: Ptr("fr"), Attributes: attributes}, IfMatch(head.ETag))
	must(t, err)
	expect(t, changed.Locale == "fr", "the new locale", changed)
	_, err = client.ChangeRecipient(ctx, setting.UserID, RecipientChange{Locale: Ptr("it")}, IfMatch(head.ETag))
	var refused *ProblemError
	expect(t, errors.As(err, &refused) && refused.Status == 412, "an old ETag", err)
	quiet := changePreferences(t, client, PreferencesRequest{DoNotDisturbUntil: Ptr(time.Now().Add(time.Hour))})
	expect(t, quiet.DoNotDisturbUntil != nil, "quiet", quiet)
	quiet = changePreferences(t, client, PreferencesRequest{NullFields: []string{"do_not_disturb_until"}, ChannelsOff: []Channel{}})
	expect(t, quiet.DoNotDisturbUntil == nil, "null ends the quiet time", quiet)
}

func changePreferences(t *testing.T, client *Client, change PreferencesRequest) *PreferencesAnswer {
	t.Helper()
	found, err := client.ChangePreferences(ctx, setting.UserID, ChangePreferencesQuery{}, change)
	must(t, err)
	return found
}

func listPages(t *testing.T, client *Client) {
	query := ListNotificationsQuery{UserID: &setting.UserID, Limit: Ptr[int64](1), Status: []Status{StatusQueued, StatusScheduled}}
	query.Since = Ptr(time.Now().Add(-time.Hour))
	list, count := client.ListNotifications(query), 0
	for list.Next(ctx) {
		expect(t, list.Item().UserID == setting.UserID, "a notification of the recipient", list.Item())
		count++
	}
	must(t, list.Err())
	expect(t, count == 2, "two pages with an item each", count)
	pages, count := client.ListNotifications(query), 0
	for page, err := pages.Page(ctx); page != nil; page, err = pages.Page(ctx) {
		must(t, err)
		count += len(page.Results)
	}
	expect(t, count == 2, "the same by pages", count)
}

func TestErrors(t *testing.T) {
	client := connect(t, setting.URL, 0)
	unknown := mail("-nobody")
	unknown.UserID = Ptr("nobody")
	_, err := client.CreateNotification(ctx, unknown)
	var refused *ProblemError
	expect(t, errors.As(err, &refused) && refused.Status == 422 && refused.Code == "unknown-recipient", "a problem", err)
	expect(t, refused.IdempotencyKey != "" && refused.RequestID != "" && refused.Attempts == 1, "facts", refused)
	_, err = client.CreateNotification(ctx, NotificationRequest{UserID: &setting.UserID})
	expect(t, errors.As(err, &refused) && refused.Code == "invalid" && refused.Errors[0].Pointer == "/type", "a pointer", err)
	for _, wrong := range []func() error{
		func() error { _, err := client.GetRecipient(ctx, ".."); return err },
		func() error { _, err := client.CreateNotification(ctx, mail(""), IdempotencyKey("a ")); return err },
		func() error { return client.DeleteSchedule(ctx, 1, IfMatch("")) },
		func() error { _, err := client.GetMe(ctx, IdempotencyKey("a")); return err },
		func() error { _, err := New(Settings{URL: setting.URL, Key: "nk_live_verysecret\n"}); return err },
		func() error { _, err := New(Settings{URL: setting.URL + "?", Key: "verysecret"}); return err },
		func() error { _, err := New(Settings{URL: "https://a:verysecret@example.com", Key: "k"}); return err },
	} {
		err := wrong()
		expect(t, err != nil && !errors.As(err, &refused) && !strings.Contains(err.Error(), "verysecret"), "an error before any request", err)
	}
	_, err = client.GetRecipient(ctx, "a/b {user_id}%2e?c=d#e")
	expect(t, errors.As(err, &refused) && refused.Code == "not-found", "a name with any letters", err)
	shown := fmt.Sprintf("%v %+v %#v %+v", client, *client, err, Settings{Key: setting.Key})
	expect(t, !strings.Contains(shown, setting.Key), "no text shows the key")
}

// TestRelay makes the calls for which tests/clients/compiled.py has planned the answers.
func TestRelay(t *testing.T) {
	client := connect(t, setting.Relay, 0)
	var head ResponseHead
	_, err := client.CreateNotification(ctx, mail("-lost"), Head(&head))
	must(t, err)
	expect(t, head.Replayed, "the first answer again", head)
	own := mail("-own")
	own.IdempotencyKey = Ptr(setting.UserID + " ✓")
	_, err = client.CreateNotification(ctx, own)
	must(t, err)
	_, err = client.IssueClientToken(ctx, setting.UserID, ClientTokenRequest{Scopes: []TokenScope{TokenScopeInboxRead}})
	var lost *ConnectionError
	expect(t, errors.As(err, &lost) && lost.Attempts == 1 && lost.Unanswered == 1, "no repeat without a key", err)
	nobody, err := New(Settings{URL: "http://127.0.0.1:1", Key: setting.Key, Retries: 1})
	must(t, err)
	_, err = nobody.UploadAudience(ctx, UploadAudienceQuery{}, []byte("user_id\n"), "text/csv")
	expect(t, errors.As(err, &lost) && lost.Attempts == 2 && lost.Unanswered == 0, "a repeat without a connection", err)
	var refused *ProblemError
	_, err = client.GetMe(ctx)
	expect(t, errors.As(err, &refused) && refused.RetryAfter == time.Hour && refused.Attempts == 1, "a long Retry-After", err)
	_, err = client.GetMe(ctx)
	expect(t, errors.As(err, &refused) && refused.Status == 500 && refused.Attempts == 1, "no repeat of a 500", err)
	_, err = client.GetMe(ctx)
	expect(t, errors.As(err, &refused) && refused.RetryAfter > time.Hour && refused.Attempts == 1, "a huge Retry-After", err)
	var unexpected *UnexpectedAnswerError
	list := client.ListNotifications(ListNotificationsQuery{})
	expect(t, !list.Next(ctx) && errors.As(list.Err(), &unexpected), "another JSON object is no empty list", list.Err())
	_, err = client.CreateNotification(ctx, mail("-proxy"))
	said := "200, but without notification_id"
	expect(t, errors.As(err, &unexpected) && strings.Contains(err.Error(), said), "an object of a proxy", err)
	_, err = client.GetMe(ctx)
	expect(t, errors.As(err, &unexpected) && unexpected.Status == 302, "a redirect", err)
	_, err = client.GetMe(ctx)
	expect(t, errors.As(err, &unexpected) && unexpected.Status == 200, "a page of a proxy", err)
	later, err := client.CreateNotification(ctx, mail("-later"))
	must(t, err)
	expect(t, later.Status == "teleported" && later.Deliveries[0].Channel == "telepathy", "a later version", later)
	topic := setting.UserID
	must(t, connect(t, setting.URL, 0).Subscribe(ctx, topic, setting.UserID))
	must(t, client.DeleteTopic(ctx, topic))
	err = client.Subscribe(ctx, topic, "nobody")
	expect(t, errors.As(err, &refused) && refused.Unanswered == 1, "no success after a lost answer", err)
	err = client.Unsubscribe(ctx, topic, setting.UserID)
	expect(t, errors.As(err, &unexpected), "a page is no success", err)
	for _, what := range []string{"no answer", "an answer that never ends"} {
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		_, err = client.Search(short, SearchQuery{Address: Ptr("maria@example.com")})
		cancel()
		expect(t, errors.As(err, &lost) && errors.Is(err, context.DeadlineExceeded), what, err)
		expect(t, !strings.Contains(err.Error(), "maria"), "no query in an error", err)
	}
}

func TestWebhooks(t *testing.T) {
	for _, each := range setting.Webhooks {
		verifier, err := NewVerifier(each.Secrets...)
		must(t, err)
		expect(t, !strings.Contains(fmt.Sprint(*verifier), fmt.Sprint([]byte("secret"))[1:10]), "no text shows a secret")
		verifier.Now = func() time.Time { return time.Unix(each.Now, 0) }
		body, err := base64.StdEncoding.DecodeString(each.Body)
		must(t, err)
		header := http.Header{}
		for name, value := range each.Headers {
			header.Set(name, value)
		}
		found, err := verifier.Verify(body, header)
		switch each.Error {
		case "":
			expect(t, err == nil && found.ID == "msg_1" && found.Type == "notification", each.Name, err)
		case "signature":
			expect(t, errors.Is(err, ErrInvalidSignature), each.Name, err)
		default:
			expect(t, err != nil && !errors.Is(err, ErrInvalidSignature), each.Name, err)
		}
	}
	for _, secret := range []string{"", "whsec_", "verysecret", "whsec_verysecret", "whsec_dmVyeXNlY3JldA=="} {
		_, err := NewVerifier(secret)
		expect(t, err != nil && (secret == "" || !strings.Contains(err.Error(), "verysecret")), "no secret", err)
	}
}
