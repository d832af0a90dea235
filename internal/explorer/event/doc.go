// Package event finds events.
package event
