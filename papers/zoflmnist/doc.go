// Package zoflmnist asks after how many queries and bytes the recipe of the preset zofl reaches
// accuracies on MNIST, and whether groups of devices that share directions help where their labels
// differ.
package zoflmnist
