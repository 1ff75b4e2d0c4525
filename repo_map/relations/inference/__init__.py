"""What the resolvers of languages whose types are seldom written share."""
