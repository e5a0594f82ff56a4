package codec

import "fmt"

// Name returns the name of a choice. names lists all names by number; "" stands for an unused
// number.
func Name(names []string, v int) string {
	if v < len(names) && names[v] != "" {
		return names[v]
	}
	return fmt.Sprintf("unknown(%d)", v)
}
