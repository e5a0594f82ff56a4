// Package decomfl asks which claims of the DeComFL paper about training hold: on accuracy by
// rounds and by settings, on bytes and time, and on the comparison with methods by gradients,
// which package firstorder implements. Package device measures the traffic and the memory of
// devices.
package decomfl
