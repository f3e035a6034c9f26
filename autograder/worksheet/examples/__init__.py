"""Small worksheets to learn from: one perceptron layer, one LSTM step, mean pooling."""
