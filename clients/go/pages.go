package notify

import (
	"context"
	"errors"
)

// Page is a part of a list.
type Page[T any] struct {
	Results []T `json:"results"`
	// Next is the cursor of the next page; nil after the last page.
	Next *string `json:"next"`
}

// isWhole tells a page from another JSON object, whose iteration would be an empty list.
func (p *Page[T]) isWhole() bool { return p.Results != nil }

// Pages is a list that is read page after page:
//
//	list := client.ListNotifications(notify.ListNotificationsQuery{})
//	for list.Next(ctx) {
//		fmt.Println(list.Item().NotificationID)
//	}
//	if err := list.Err(); err != nil { ... }
//
// A Pages value is for one goroutine.
type Pages[T any] struct {
	read   func(ctx context.Context, cursor string) (*Page[T], error)
	cursor string
	seen   map[string]bool
	items  []T
	item   T
	err    error
	isDone bool
}

func list[T any](c *Client, call call, given []Option) *Pages[T] {
	read := func(ctx context.Context, cursor string) (*Page[T], error) {
		call.cursor = cursor
		return value[Page[T]](ctx, c, call, given)
	}
	return &Pages[T]{read: read, seen: map[string]bool{}}
}

// Page reads the next page; nil after the last page.
func (p *Pages[T]) Page(ctx context.Context) (*Page[T], error) {
	if p.isDone || p.err != nil {
		return nil, p.err
	}
	page, err := p.read(ctx, p.cursor)
	if err != nil {
		p.err = err
		return nil, err
	}
	if p.isDone = page.Next == nil; !p.isDone {
		if p.cursor = *page.Next; p.seen[p.cursor] {
			p.err = errors.New("notify: the list repeats a page, so its iteration would never end")
			return nil, p.err
		}
		p.seen[p.cursor] = true
	}
	return page, nil
}

// Next moves to the next item, and reads a page where one is needed; false after the last item and
// after an error.
func (p *Pages[T]) Next(ctx context.Context) bool {
	for len(p.items) == 0 {
		page, err := p.Page(ctx)
		if err != nil || page == nil {
			return false
		}
		p.items = page.Results
	}
	p.item, p.items = p.items[0], p.items[1:]
	return true
}

// Item returns the item that Next moved to.
func (p *Pages[T]) Item() T { return p.item }

// Err returns the error that ended the iteration; nil after the last item.
func (p *Pages[T]) Err() error { return p.err }
