"""A proxy between one device and the broker, which counts the bytes that the device sends and
receives at its socket."""

import socket
import threading


class Counter:
    """Listens at 127.0.0.1:port, and passes each connection on to the broker."""

    def __init__(self, broker_port):
        self.broker_port = broker_port
        self.sent = self.received = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                device, _ = self.listener.accept()
            except OSError:  # closed
                return
            broker = socket.create_connection(("127.0.0.1", self.broker_port))
            for end in (device, broker):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for pair in ((device, broker, "sent"), (broker, device, "received")):
                threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def carry(self, source, target, count):
        """Only one thread adds to each count at a time: a device has one connection."""
        try:
            while data := source.recv(65536):
                setattr(self, count, getattr(self, count) + len(data))
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, target):
                end.close()

    def close(self):
        self.listener.close()
