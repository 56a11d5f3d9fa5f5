// Package notify is a client of the notification delivery service, with the standard library alone.
//
// Each operation of the API has a method of Client with the name of the operation id. The types
// and methods are generated; a field that the service adds later is ignored, and an enumeration
// is text, so a later word is no error.
package notify

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Settings say how to reach the service.
type Settings struct {
	// URL is the service's address, with or without a path in front of /v1.
	URL string
	// Key is the producer's API key, nk_live_... or nk_test_...
	Key string
	// Timeout of a request with its response; 0: 30 s.
	Timeout time.Duration
	// Retries is the largest number of repeats of a call; 0: 4, negative: none.
	Retries int
	// HTTP sends the requests; nil: a client of http.DefaultTransport. Redirects are not followed.
	HTTP *http.Client
}

// Format leaves the key out of each text of the settings, because settings end in logs.
func (Settings) Format(out fmt.State, _ rune) { fmt.Fprint(out, "notify.Settings") }

// Client calls the service with an API key; goroutines may share a Client.
type Client struct {
	base    string
	http    http.Client
	timeout time.Duration
	retries int
	// A function, because fmt prints no content of a function: the key stays out of logs.
	authorize func(*http.Request)
}

var (
	keyPattern         = regexp.MustCompile(`^[!-~]+$`)
	idempotencyPattern = regexp.MustCompile(`^[!-~]([ -~]{0,253}[!-~])?$`)
	etagPattern        = regexp.MustCompile(`^(\*|(W/)?"[!#-~]*")$`)
)

// New checks the settings and returns a client; the error does not contain the key or the URL.
func New(settings Settings) (*Client, error) {
	base, err := url.Parse(settings.URL)
	if err != nil || (base.Scheme != "https" && base.Scheme != "http") || base.Host == "" {
		return nil, errors.New("notify: the URL must be like https://notify.example.com")
	}
	if base.User != nil || base.RawQuery != "" || base.ForceQuery || base.Fragment != "" {
		return nil, errors.New("notify: the URL must have no user, password, query or fragment")
	}
	if !keyPattern.MatchString(settings.Key) {
		return nil, errors.New("notify: the key must be the producer's key, without spaces or line ends")
	}
	if settings.Timeout < 0 {
		return nil, errors.New("notify: the timeout must not be negative")
	}
	client := &Client{base: strings.TrimRight(base.String(), "/"), timeout: 30 * time.Second, retries: 4}
	if settings.Timeout > 0 {
		client.timeout = settings.Timeout
	}
	if settings.Retries != 0 {
		client.retries = settings.Retries
	}
	if settings.HTTP != nil {
		client.http = *settings.HTTP
	}
	// A redirect would turn a POST into a GET, or carry the key elsewhere.
	client.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	authorization := "Bearer " + settings.Key
	client.authorize = func(request *http.Request) { request.Header.Set("Authorization", authorization) }
	return client, nil
}

// Ptr returns a pointer to a value, for an optional field: UserID: notify.Ptr("u_1").
func Ptr[T any](value T) *T { return &value }

// ResponseHead has facts about a response beside its body.
type ResponseHead struct {
	// Status is the HTTP status; 201 of a PUT: the object was created.
	Status int
	// ETag of the object's version, for IfMatch and IfNoneMatch; may be empty.
	ETag string
	// RequestID is the id of the request in the service's logs.
	RequestID string
	// Replayed is true if the service had answered the same key and body before.
	Replayed bool
}

// Option changes one call.
type Option func(*options) error

type options struct {
	key, ifMatch, ifNoneMatch string
	head                      *ResponseHead
}

// IdempotencyKey gives a POST a key in place of a random key: 1 to 255 printable ASCII characters
// without a space at either end. The service carries out a key and body once in 24 hours.
func IdempotencyKey(key string) Option {
	return func(o *options) error {
		o.key = key
		// HTTP strips spaces at the ends, so two different keys would become equal.
		if !idempotencyPattern.MatchString(key) {
			return errors.New("notify: an idempotency key has 1 to 255 printable ASCII characters without a space at its ends")
		}
		return nil
	}
}

// IfMatch lets a write succeed only while the object has this ETag; otherwise the status is 412.
func IfMatch(etag string) Option {
	return func(o *options) error { o.ifMatch = etag; return checkETag(etag) }
}

// IfNoneMatch lets a read end with ErrNotModified while the object has this ETag. The ETag * lets
// PutRecipient create a recipient, and never replace one.
func IfNoneMatch(etag string) Option {
	return func(o *options) error { o.ifNoneMatch = etag; return checkETag(etag) }
}

// Head stores the facts about the response in head; a list stores the facts about each page.
func Head(head *ResponseHead) Option {
	return func(o *options) error { o.head = head; return nil }
}

// checkETag keeps a condition that was lost on the way from becoming a write without a condition.
func checkETag(etag string) error {
	if !etagPattern.MatchString(etag) {
		return errors.New("notify: the condition needs the ETag of an object that was read")
	}
	return nil
}

// randomKey returns 128 random bits: two calls never have the same key by chance.
func randomKey() (string, error) {
	bits := make([]byte, 16)
	if _, err := rand.Read(bits); err != nil {
		return "", fmt.Errorf("notify: no random idempotency key: %w", err)
	}
	return hex.EncodeToString(bits), nil
}
