// Package firstorder trains by gradients and sends whole models, like the methods with which
// DeComFL's figures compare DeComFL: FedAvg and its variants. The package simulates these methods
// for comparison, without a client or coordinator of Zofl. The simulation counts gradients, never
// queries.
package firstorder
