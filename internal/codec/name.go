package codec

import "fmt"

// Name returns the name of a choice, of which names has all by number; "" is that of an unused one.
func Name(names []string, v int) string {
	if v < len(names) && names[v] != "" {
		return names[v]
	}
	return fmt.Sprintf("unknown(%d)", v)
}
