package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Tolerance is the largest difference between the timestamp of a webhook and the clock.
const Tolerance = 5 * time.Minute

const (
	secretPrefix   = "whsec_"
	shortestSecret = 24
	longestSecret  = 64
	// Each signature costs a comparison per secret. The service sends a signature per valid secret.
	mostSignatures = 20
)

// ErrInvalidSignature says that a webhook is not of the service: respond with 400 and ignore it.
var ErrInvalidSignature = errors.New("notify: the webhook is not of the service")

// Webhook is a webhook with a valid signature.
type Webhook struct {
	// ID is equal for every repeat: store the id to detect duplicates.
	ID string
	// Timestamp is the time of the signature.
	Timestamp time.Time
	// Type says which type the data has: NotificationEventData, ContactEventData or
	// BulkJobEventData. A later version of the service may send further types.
	Type string
	// Data is the JSON of the event's data.
	Data json.RawMessage
}

// Verifier verifies webhooks that are signed as Standard Webhooks says; goroutines may share one.
type Verifier struct {
	// A function for each secret, because fmt prints no content of a function: the secrets stay out of logs.
	sign []func(signed []byte) []byte
	// Tolerance is the largest difference of the timestamp; NewVerifier sets five minutes.
	Tolerance time.Duration
	// Now is the clock; NewVerifier sets time.Now.
	Now func() time.Time
}

// NewVerifier returns a verifier for the secrets whsec_..., several during a rotation. The error
// does not contain a secret.
func NewVerifier(secrets ...string) (*Verifier, error) {
	if len(secrets) == 0 {
		return nil, errors.New("notify: at least one secret is needed")
	}
	made := &Verifier{Tolerance: Tolerance, Now: time.Now}
	for _, each := range secrets {
		encoded := strings.TrimPrefix(each, secretPrefix)
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if encoded == each || err != nil || len(secret) < shortestSecret || len(secret) > longestSecret {
			return nil, fmt.Errorf("notify: a secret is %s and the base64 of %d to %d bytes", secretPrefix, shortestSecret, longestSecret)
		}
		made.sign = append(made.sign, func(signed []byte) []byte {
			mac := hmac.New(sha256.New, secret)
			mac.Write(signed)
			return mac.Sum(nil)
		})
	}
	return made, nil
}

// Verify checks a request's unchanged body and headers. The error of a request that is not of the
// service is ErrInvalidSignature, also in errors.Is.
func (v *Verifier) Verify(body []byte, header http.Header) (*Webhook, error) {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if id == "" || err != nil {
		return nil, fmt.Errorf("%w: webhook-id or webhook-timestamp is missing or malformed", ErrInvalidSignature)
	}
	signedAt := time.Unix(int64(seconds), 0)
	if now := v.Now(); signedAt.Before(now.Add(-v.Tolerance)) || signedAt.After(now.Add(v.Tolerance)) {
		return nil, fmt.Errorf("%w: webhook-timestamp is too far from this machine's clock", ErrInvalidSignature)
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	if !v.matches(signed, strings.Join(header.Values("webhook-signature"), " ")) {
		return nil, fmt.Errorf("%w: webhook-signature does not match", ErrInvalidSignature)
	}
	made := &Webhook{ID: id, Timestamp: signedAt}
	content := struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}{}
	if err := json.Unmarshal(body, &content); err != nil || !isObject(body) {
		return nil, errors.New("notify: the signature is right, but the body is no JSON object of a webhook")
	}
	made.Type, made.Data = content.Type, content.Data
	return made, nil
}

// matches compares in constant time, and all signatures, also after a match.
func (v *Verifier) matches(signed []byte, said string) bool {
	given := strings.Fields(said)
	if len(given) > mostSignatures {
		given = given[:mostSignatures]
	}
	found := false
	for _, sign := range v.sign {
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(sign(signed)))
		for _, each := range given {
			found = hmac.Equal(expected, []byte(each)) || found
		}
	}
	return found
}
