// A text that ends inside a name, without a line break.
memragmerntef.