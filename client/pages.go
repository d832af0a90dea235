package client

import (
	"errors"
	"iter"
)

// pages goes over the items of all pages. A cursor that leads to itself would never end.
func pages[T any](page func(cursor string) (items []T, next *string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor := ""
		for {
			items, next, err := page(cursor)
			if err == nil && next != nil && (*next == cursor || *next == "") {
				err = errors.New("the next page is the same one")
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			cursor = *next
		}
	}
}
