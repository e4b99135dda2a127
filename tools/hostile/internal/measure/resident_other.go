//go:build !linux

package measure

// resident is 0 where it is not known.
func resident() (func() (int64, error), error) {
	return func() (int64, error) { return 0, nil }, nil
}
