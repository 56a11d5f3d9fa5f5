package notify

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

const (
	firstPause   = 500 * time.Millisecond
	longestPause = 8 * time.Second
	// After a longer Retry-After the call fails at once, and the caller decides.
	longestRetryAfter = time.Minute
	never             = time.Duration(-1)
)

// call is an operation with its arguments. Only POST takes an idempotency key.
type call struct {
	operation string
	at        []any
	query     any
	cursor    string // of a page behind the first page
	body      any
	file      []byte
	mediaType string
	has       string // a field of each answer
	takesKey  bool
	hasOwnKey bool
}

type response struct {
	status int
	header http.Header
	body   []byte
}

// request is what each attempt sends unchanged.
type request struct {
	method, target string
	header         http.Header
	body           []byte
	key            string
	isRepeatable   bool
}

func value[T any](ctx context.Context, c *Client, call call, given []Option) (*T, error) {
	found, failed, err := c.send(ctx, call, given)
	if err != nil {
		return nil, err
	}
	made := new(T)
	members := map[string]json.RawMessage{}
	if !isObject(found.body) || json.Unmarshal(found.body, &members) != nil {
		return nil, &UnexpectedAnswerError{failed, found.status, "but no JSON object"}
	}
	if _, has := members[call.has]; !has && call.has != "" {
		return nil, &UnexpectedAnswerError{failed, found.status, "but without " + call.has}
	}
	if err := json.Unmarshal(found.body, made); err != nil {
		return nil, &UnexpectedAnswerError{failed, found.status, "but JSON of another shape"}
	}
	if page, isPage := any(made).(interface{ isWhole() bool }); isPage && !page.isWhole() {
		return nil, &UnexpectedAnswerError{failed, found.status, "but no page of a list"}
	}
	return made, nil
}

func isObject(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
}

func nothing(ctx context.Context, c *Client, call call, given []Option) error {
	found, failed, err := c.send(ctx, call, given)
	if err == nil && found.status != http.StatusNoContent {
		return &UnexpectedAnswerError{failed, found.status, "but not 204"}
	}
	var refused *ProblemError
	isGone := errors.As(err, &refused) && refused.Status == http.StatusNotFound
	// An earlier request, whose answer was lost, has deleted the object.
	if isGone && failed.Unanswered > 0 && strings.HasPrefix(call.operation, http.MethodDelete) {
		return nil
	}
	return err
}

// send repeats a call until the service answers or the retries are used up.
func (c *Client) send(ctx context.Context, call call, given []Option) (*response, Failed, error) {
	failed := Failed{Operation: call.operation}
	var o options
	for _, each := range given {
		if err := each(&o); err != nil {
			return nil, failed, err
		}
	}
	prepared, err := c.prepare(call, &o)
	if err != nil {
		return nil, failed, err
	}
	failed.IdempotencyKey = prepared.key
	for {
		failed.Attempts++
		found, pause, err := c.attempt(ctx, prepared, &failed)
		if found != nil {
			o.store(found)
		}
		mayRepeat := prepared.isRepeatable || isUnsent(err)
		isLast := failed.Attempts > c.retries || !mayRepeat || ctx.Err() != nil
		if err == nil || isLast || pause == never {
			return found, failed, err
		}
		if err := wait(ctx, pause+backoff(failed.Attempts)); err != nil {
			return nil, failed, &ConnectionError{failed, err}
		}
	}
}

// attempt sends a request once. With an error it returns the least pause before a repeat.
func (c *Client) attempt(ctx context.Context, made *request, failed *Failed) (*response, time.Duration, error) {
	found, err := c.exchange(ctx, made)
	if err != nil {
		if !isUnsent(err) {
			failed.Unanswered++
		}
		return nil, 0, &ConnectionError{*failed, withoutURL(err)}
	}
	switch {
	case found.status/100 == 2:
		return found, 0, nil
	case found.status == http.StatusNotModified && made.header.Get("If-None-Match") != "":
		return found, never, ErrNotModified
	case found.status < 400:
		return nil, never, &UnexpectedAnswerError{*failed, found.status, "which is no answer of the service"}
	case found.status == http.StatusBadGateway || found.status == http.StatusGatewayTimeout:
		failed.Unanswered++ // the proxy may have passed the request on
	}
	refused := problem(found, *failed)
	if passes(refused) {
		return nil, refused.RetryAfter, refused
	}
	return nil, never, refused
}

// isUnsent tells whether no connection was made, so that no byte of the request left.
func isUnsent(err error) bool {
	var failed *net.OpError
	return errors.As(err, &failed) && failed.Op == "dial"
}

// passes tells whether the same request can be accepted later.
func passes(refused *ProblemError) bool {
	switch refused.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return refused.RetryAfter <= longestRetryAfter
	}
	return refused.Code == "in-progress" && refused.RetryAfter <= longestRetryAfter
}

func (c *Client) prepare(call call, o *options) (*request, error) {
	method, path, _ := strings.Cut(call.operation, " ")
	for _, each := range call.at {
		part := fmt.Sprint(each)
		if part == "" || part == "." || part == ".." {
			return nil, fmt.Errorf("notify: %s: a part of the path must not be empty, . or ..", call.operation)
		}
		begin, end := strings.Index(path, "{"), strings.Index(path, "}")
		path = path[:begin] + url.PathEscape(part) + path[end+1:]
	}
	search, err := search(call.query, call.cursor)
	if err != nil {
		return nil, fmt.Errorf("notify: %s: the query is not valid: %w", call.operation, err)
	}
	header := http.Header{"Accept": {"application/json, application/problem+json"}, "User-Agent": {"notify-delivery-client-go"}}
	made := &request{method: method, target: c.base + path + search, header: header, body: call.file}
	made.isRepeatable = method != http.MethodPost || call.takesKey
	if o.key != "" && !call.takesKey {
		return nil, fmt.Errorf("notify: %s takes no idempotency key", call.operation)
	}
	if made.key = o.key; o.key == "" && method == http.MethodPost && call.takesKey && !call.hasOwnKey {
		if made.key, err = randomKey(); err != nil {
			return nil, err
		}
	}
	for name, text := range map[string]string{
		"Idempotency-Key": made.key, "If-Match": o.ifMatch, "If-None-Match": o.ifNoneMatch, "Content-Type": call.mediaType,
	} {
		if text != "" {
			header.Set(name, text)
		}
	}
	if call.body != nil {
		if made.body, err = json.Marshal(call.body); err != nil {
			return nil, fmt.Errorf("notify: %s: the body is not valid: %w", call.operation, err)
		}
		header.Set("Content-Type", "application/json")
	}
	return made, nil
}

// exchange sends a request once and reads the whole response within the timeout.
func (c *Client) exchange(ctx context.Context, made *request) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	sent, err := http.NewRequestWithContext(ctx, made.method, made.target, bytes.NewReader(made.body))
	if err != nil {
		return nil, err
	}
	sent.Header = made.header.Clone()
	c.authorize(sent)
	answer, err := c.http.Do(sent)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	return &response{answer.StatusCode, answer.Header, body}, nil
}

func (o *options) store(found *response) {
	if o.head == nil {
		return
	}
	get := found.header.Get
	*o.head = ResponseHead{found.status, get("ETag"), get("X-Request-Id"), get("Idempotent-Replayed") == "true"}
}

// backoff doubles with each attempt and has jitter, so that clients do not come back together.
func backoff(attempts int) time.Duration {
	grown := math.Min(float64(longestPause), float64(firstPause)*math.Pow(2, float64(attempts-1)))
	var bits [8]byte
	_, _ = rand.Read(bits[:]) // without random bits the pause is the shortest
	return time.Duration(grown * (0.5 + float64(binary.BigEndian.Uint64(bits[:]))/math.MaxUint64/2))
}

func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// members returns the fields of a struct by their names of the API, without optional fields that
// are nil.
func members(of any) map[string]any {
	found := map[string]any{}
	fields := reflect.ValueOf(of)
	for at := 0; at < fields.NumField(); at++ {
		name, option, _ := strings.Cut(fields.Type().Field(at).Tag.Get("json"), ",")
		field := fields.Field(at)
		if name == "-" || option != "" && field.Kind() != reflect.Struct && field.IsZero() {
			continue
		}
		found[name] = field.Interface()
	}
	return found
}

func encode(of any, nulls []string) ([]byte, error) {
	found := members(of)
	for _, name := range nulls {
		found[name] = nil
	}
	return json.Marshal(found)
}

// search returns the query of a URL with its question mark; a list is a parameter for each item.
func search(query any, cursor string) (string, error) {
	encoded, err := json.Marshal(query)
	if err != nil {
		return "", err
	}
	given, found := map[string]any{}, url.Values{}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	if err := decoder.Decode(&given); err != nil {
		return "", err
	}
	for name, each := range given {
		items, isList := each.([]any)
		if !isList {
			items = []any{each}
		}
		for _, item := range items {
			found.Add(name, fmt.Sprint(item))
		}
	}
	if cursor != "" {
		found.Set("cursor", cursor)
	}
	if len(found) == 0 {
		return "", nil
	}
	return "?" + found.Encode(), nil
}
