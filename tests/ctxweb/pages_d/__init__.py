"""Pages of durable facts and of the audit."""
