// Package capture is where frames come from: capture files, plain or
// compressed with gzip, bzip2, zstd or lz4, from a path or standard input, alone or
// joined. A program may add a [Remote], which opens names that are URLs.
//
// What a file is, is told by its first octets and never by its name.
// Decompression is streaming: memory does not depend on how much comes out.
//
// # Lifetime
//
// [Frame.Data] is borrowed and valid until the next call of Next on the same
// source.
//
// # To add a compression
//
//  1. add its magic number to compressionOf in decompress.go, and its reader,
//     with bounded memory and without goroutines, to decompressor;
//  2. add it to the table compressors in the tests.
package capture
