// Package arrange sorts lists.
//
// It does what slices.SortFunc and slices.SortStableFunc do, which the compiler writes anew
// for every type of element, in every package: ten kilobytes, and a twentieth of a second
// of whoever builds the program. Here only the comparison is written anew. In return a
// comparison takes longer by some nanoseconds, so what is sorted for most requests is
// sorted by package slices.
package arrange

import "sort"

// By sorts a list. Elements that compare as equal are in no order.
func By[T any](list []T, compare func(a, b T) int) {
	sort.Slice(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// StablyBy sorts a list. Elements that compare as equal stay in their order.
func StablyBy[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}
