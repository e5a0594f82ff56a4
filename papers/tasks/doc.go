// Package tasks has small classification tasks. A task says which rows a model learns, how to
// scale the features, and to how many devices to deal the rows.
//
// For most uses, make a [Task] and call its Rows. Without a directory of data, Rows generates the
// rows.
package tasks
