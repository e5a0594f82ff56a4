package mqtt

import "context"

// Keep makes the broker keep a payload for a topic, in place of the payload before. Keep returns
// at once. Without a connection, the newest payload waits for the next connection.
func (l *Link) Keep(topic string, payload []byte) {
	l.mu.Lock()
	l.kept[topic], l.due[topic] = payload, true
	l.mu.Unlock()
	l.stir()
}

func (l *Link) stir() {
	select {
	case l.wake <- struct{}{}:
	default: // it is about to look
	}
}

// publish publishes due messages until the link is closed.
func (l *Link) publish(ctx context.Context) {
	defer close(l.ended)
	for {
		for l.client.IsConnectionOpen() {
			topic, payload := l.next()
			if topic == "" {
				break
			}
			if err := l.send(ctx, topic, payload); err != nil {
				l.mu.Lock()
				l.due[topic] = true
				l.mu.Unlock()
				if ctx.Err() != nil {
					return
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
	}
}

// next takes the first topic that is due, or "" if no topic is due.
func (l *Link) next() (topic string, payload []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.due {
		if topic == "" || name < topic {
			topic = name
		}
	}
	delete(l.due, topic)
	return topic, l.kept[topic]
}

// send publishes a message, and waits until the broker has it.
func (l *Link) send(ctx context.Context, topic string, payload []byte) error {
	token := l.client.Publish(topic, 1, true, payload)
	ctx, cancel := context.WithTimeout(ctx, publishWithin)
	defer cancel()
	select {
	case <-token.Done():
		return token.Error()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
