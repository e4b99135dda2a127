package ended

import (
	"encoding"
	"encoding/binary"
	"fmt"
	"reflect"
	"sync"

	"github.com/iwdissect/iwdissect/trace"
)

// A codec writes a value of one type to octets and reads it back. Most fields of a record are
// zero, so a struct is a list of those that are not: how many fields are left out, the next
// one, and so on. Numbers are varints. What an interface holds belongs to a run and is left out.
type codec struct {
	encode func([]byte, reflect.Value) []byte
	decode func(*reader, reflect.Value)
}

// records is the codec of a connection. A field of a kind that it does not know is a mistake
// of this package, which the tests find.
var records = sync.OnceValue(func() codec { return codecOf(reflect.TypeFor[trace.Connection]()) })

// reader reads what a codec wrote.
type reader struct{ b []byte }

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	r.b = r.b[n:]
	return v
}

func (r *reader) octets() []byte {
	n := r.uint()
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func appendOctets[B []byte | string](b []byte, v B) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

func codecOf(t reflect.Type) codec {
	if t.Implements(reflect.TypeFor[encoding.BinaryMarshaler]()) {
		return marshalled()
	}
	switch t.Kind() {
	case reflect.Bool:
		return codec{
			func(b []byte, v reflect.Value) []byte {
				if v.Bool() {
					return append(b, 1)
				}
				return append(b, 0)
			},
			func(r *reader, v reflect.Value) { v.SetBool(r.uint() != 0) },
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return codec{
			func(b []byte, v reflect.Value) []byte {
				return binary.AppendVarint(b, v.Int())
			},
			func(r *reader, v reflect.Value) { v.SetInt(r.int()) },
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return codec{
			func(b []byte, v reflect.Value) []byte { return binary.AppendUvarint(b, v.Uint()) },
			func(r *reader, v reflect.Value) { v.SetUint(r.uint()) },
		}
	case reflect.String:
		return codec{
			func(b []byte, v reflect.Value) []byte { return appendOctets(b, v.String()) },
			func(r *reader, v reflect.Value) { v.SetString(string(r.octets())) },
		}
	case reflect.Pointer:
		return pointer(t.Elem())
	case reflect.Slice:
		return slice(t)
	case reflect.Array:
		return array(t)
	case reflect.Struct:
		return structure(t)
	default:
		panic(fmt.Sprintf("ended: no codec for %s", t))
	}
}

// marshalled is the codec of a type that has its own.
func marshalled() codec {
	return codec{
		func(b []byte, v reflect.Value) []byte {
			own, err := v.Interface().(encoding.BinaryMarshaler).MarshalBinary()
			if err != nil {
				panic(fmt.Sprintf("ended: %v", err)) // it does not fail for addresses
			}
			return appendOctets(b, own)
		},
		func(r *reader, v reflect.Value) {
			if err := v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(r.octets()); err != nil {
				panic(fmt.Sprintf("ended: %v", err))
			}
		},
	}
}

// pointer is the codec of a pointer: 0 for nil, or 1 and what it points to.
func pointer(t reflect.Type) codec {
	to := codecOf(t)
	return codec{
		func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, 0)
			}
			return to.encode(append(b, 1), v.Elem())
		},
		func(r *reader, v reflect.Value) {
			if r.uint() == 0 {
				return
			}
			v.Set(reflect.New(t))
			to.decode(r, v.Elem())
		},
	}
}

// slice is the codec of a slice: 0 for nil, or one more than its length and its elements.
func slice(t reflect.Type) codec {
	if t.Elem().Kind() == reflect.Uint8 {
		return codec{
			func(b []byte, v reflect.Value) []byte {
				if v.IsNil() {
					return append(b, 0)
				}
				return append(appendLength(b, v), v.Bytes()...)
			},
			func(r *reader, v reflect.Value) {
				if n := r.uint(); n > 0 {
					v.SetBytes(append(make([]byte, 0, n-1), r.b[:n-1]...))
					r.b = r.b[n-1:]
				}
			},
		}
	}
	each := codecOf(t.Elem())
	return codec{
		func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, 0)
			}
			b = appendLength(b, v)
			for i := range v.Len() {
				b = each.encode(b, v.Index(i))
			}
			return b
		},
		func(r *reader, v reflect.Value) {
			n := int(r.uint()) - 1 //nolint:gosec // a length
			if n < 0 {
				return
			}
			v.Set(reflect.MakeSlice(t, n, n))
			for i := range n {
				each.decode(r, v.Index(i))
			}
		},
	}
}

// appendLength appends one more than the length of a slice.
func appendLength(b []byte, v reflect.Value) []byte {
	return binary.AppendUvarint(b, uint64(v.Len())+1) //nolint:gosec // a length
}

func array(t reflect.Type) codec {
	each := codecOf(t.Elem())
	return codec{
		func(b []byte, v reflect.Value) []byte {
			for i := range v.Len() {
				b = each.encode(b, v.Index(i))
			}
			return b
		},
		func(r *reader, v reflect.Value) {
			for i := range v.Len() {
				each.decode(r, v.Index(i))
			}
		},
	}
}

// structure is the codec of a struct, see [codec].
func structure(t reflect.Type) codec {
	fields, left := make([]codec, t.NumField()), make([]bool, t.NumField())
	for i := range fields {
		f := t.Field(i)
		if left[i] = f.Type.Kind() == reflect.Interface; left[i] {
			continue
		}
		if !f.IsExported() {
			panic(fmt.Sprintf("ended: %s.%s cannot be read from outside its package", t, f.Name))
		}
		fields[i] = codecOf(f.Type)
	}
	return codec{
		func(b []byte, v reflect.Value) []byte {
			zeros := uint64(0)
			for i := range fields {
				f := v.Field(i)
				if left[i] || f.IsZero() {
					zeros++
					continue
				}
				b = fields[i].encode(binary.AppendUvarint(b, zeros), f)
				zeros = 0
			}
			if zeros > 0 {
				b = binary.AppendUvarint(b, zeros)
			}
			return b
		},
		func(r *reader, v reflect.Value) {
			for i := 0; i < len(fields); i++ {
				if i += int(r.uint()); i < len(fields) { //nolint:gosec // a number of fields
					fields[i].decode(r, v.Field(i))
				}
			}
		},
	}
}
