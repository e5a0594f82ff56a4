// Package zoflmnist asks after how many queries and bytes the recipe of the preset zofl reaches
// given accuracies on MNIST. The package also asks whether sharing directions in groups of
// devices helps where the labels of the devices differ.
package zoflmnist
