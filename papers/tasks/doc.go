// Package tasks has small classification tasks: which rows a model learns, how they are scaled, and
// to how many devices they are dealt.
//
// For most uses, make a [Task] and call its Rows. Without a directory of data they are drawn.
package tasks
