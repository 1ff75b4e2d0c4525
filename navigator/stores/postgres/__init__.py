"""PostgreSQL: connections, the layout of the tables, and who may step a navigation; imported when named."""
