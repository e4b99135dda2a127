// Package spare hands what connections that are over had on to those that begin. Where thousands of
// connections come and go, what each needs is then allocated for the first few only, and a garbage
// collector has nothing to do with it.
package spare

// List has parts of one kind. Nothing may point to a part that is in it. The zero List is empty.
type List[T any] struct{ all []*T }

// Take returns a part as it was given, or a new one.
func (l *List[T]) Take() *T {
	n := len(l.all)
	if n == 0 {
		return new(T)
	}
	x := l.all[n-1]
	l.all[n-1], l.all = nil, l.all[:n-1]
	return x
}

// Give takes a part back that is ready to be taken again, unless there are most of them: a capture
// whose connections are over keeps little.
func (l *List[T]) Give(x *T, most int) {
	if len(l.all) < most {
		l.all = append(l.all, x)
	}
}
