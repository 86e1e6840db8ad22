"""Levels of loggers as they stand in lines: alternatives of a pattern. What each means is in text/logs/layouts.py."""

from __future__ import annotations

OF_KAFKA = "TRACE|DEBUG|INFO|WARN|ERROR"
"""What Kafka's programs log at."""
OF_LOG4J = f"{OF_KAFKA}|FATAL"
LOUD = "TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|SEVERE"
"""Those of log4j and java.util.logging that people know for levels, written in capitals."""
