"""What stops the sandbox, told to its user in a sentence."""


class SandboxFailure(Exception):
    """The sandbox can't start or go on; the message says why and, where something helps, what to do."""


class StopRequested(Exception):
    """A signal has asked for the end."""
