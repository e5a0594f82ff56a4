package bus_test

import (
	"context"
	"fmt"
	"time"

	"github.com/zofl/zofl/bus"
)

func ExampleMemory() {
	b := bus.NewMemory()
	defer b.Close()
	_, err := b.Subscribe("greet.*", func(m bus.Message) {
		if err := b.Publish(m.Reply, append([]byte("hello, "), m.Data...)); err != nil {
			fmt.Println(err)
		}
	})
	if err != nil {
		fmt.Println(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	answer, err := b.Request(ctx, "greet.me", []byte("device"))
	fmt.Println(string(answer), err)
	_, err = b.Request(ctx, "nobody.listens", nil)
	fmt.Println(err)
	// Output:
	// hello, device <nil>
	// bus: request "nobody.listens": no responders
}
