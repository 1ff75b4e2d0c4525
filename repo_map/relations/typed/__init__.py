"""What the resolvers of languages with written types share."""
