package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ErrNotModified is the error of a read with IfNoneMatch whose object is unchanged.
var ErrNotModified = errors.New("notify: the object is unchanged")

// Failed has facts about a failed call. No error contains the API key, a body or a query.
type Failed struct {
	// Operation is the method and the path, as in the OpenAPI document.
	Operation string
	// Attempts is the number of requests, including the first request.
	Attempts int
	// Unanswered is the number of requests without a response. Above 0 the call may have taken
	// effect, even where the last request was refused.
	Unanswered int
	// IdempotencyKey of the requests: a later call with the same key and body cannot act twice.
	IdempotencyKey string
}

// ProblemError is a refusal by the service, with the fields of RFC 9457 problem details.
type ProblemError struct {
	Failed
	// Status is the HTTP status.
	Status int
	// Code is the code for programs, such as invalid or rate-limited; empty for a proxy's response.
	Code string
	// Type is urn:notify:problem: followed by the code.
	Type, Title string
	// Detail is text for people; the wording can change.
	Detail string
	// Errors are the invalid places of the request, with RFC 6901 JSON pointers.
	Errors []FieldProblem
	// Help is the URL of a page with a remedy; may be empty.
	Help string
	// RequestID is the id of the request in the service's logs; may be empty.
	RequestID string
	// RetryAfter is the time until the same call can be accepted; 0: the service named none.
	RetryAfter time.Duration
}

func (e *ProblemError) Error() string {
	said := fmt.Sprintf("notify: %s: %d %s", e.Operation, e.Status, e.Title)
	if e.Detail != "" {
		said += ": " + e.Detail
	}
	return said
}

// ConnectionError says that the last request got no response: no connection, a timeout, or the end
// of the context. The service may have carried out the call.
type ConnectionError struct {
	Failed
	cause error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("notify: %s: no answer after %d request(s): %v", e.Operation, e.Attempts, e.cause)
}

// Unwrap returns the cause, such as context.Canceled or context.DeadlineExceeded.
func (e *ConnectionError) Unwrap() error { return e.cause }

// UnexpectedAnswerError is a response of another server: a redirect, or a success without JSON or without
// a field of each answer.
type UnexpectedAnswerError struct {
	Failed
	Status int
	said   string
}

func (e *UnexpectedAnswerError) Error() string {
	return fmt.Sprintf("notify: %s: %d, %s: check the URL, and proxies in front of it", e.Operation, e.Status, e.said)
}

// withoutURL drops the URL of a failed request, whose query can hold an address.
func withoutURL(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

func problem(found *response, failed Failed) *ProblemError {
	var said ProblemDetails
	// A proxy's response need not be a problem: what is no JSON leaves the fields empty.
	_ = json.Unmarshal(found.body, &said)
	made := &ProblemError{
		Failed: failed, Status: found.status, Code: said.Code, Type: said.Type, Title: said.Title,
		Detail: said.Detail, Errors: said.Errors, RequestID: found.header.Get("X-Request-Id"),
		RetryAfter: retryAfter(found.header.Get("Retry-After")),
	}
	if said.Help != nil {
		made.Help = *said.Help
	}
	if made.Title == "" {
		made.Title = http.StatusText(found.status)
	}
	return made
}

// retryAfter reads the header Retry-After: seconds or a date.
func retryAfter(said string) time.Duration {
	seconds, err := strconv.ParseUint(said, 10, 32)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second // out of range: the largest number
	}
	if until, err := http.ParseTime(said); err == nil && time.Until(until) > 0 {
		return time.Until(until)
	}
	return 0
}
