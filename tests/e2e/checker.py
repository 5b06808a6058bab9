"""Counts checks and prints those that fail."""


class Checker:
    def __init__(self):
        self.checks, self.failures = 0, []

    def check(self, condition, what, got=""):
        self.checks += 1
        if not condition:
            self.failures.append(what)
            print("FAILED: %s\n%s" % (what, str(got)[:2000]))
