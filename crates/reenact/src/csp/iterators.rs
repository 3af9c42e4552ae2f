//! The iterators of a receiver, for the receivers of `csp` and of `mpsc`: std's can be sent to fewer threads.

/// Defines the iterators of the type `Receiver` in scope.
macro_rules! iterators {
    () => {
        /// Iterator returned by [`Receiver::iter`].
        #[derive(Debug)]
        pub struct Iter<'a, T> {
            receiver: &'a Receiver<T>,
        }

        /// Iterator returned by [`Receiver::try_iter`].
        #[derive(Debug)]
        pub struct TryIter<'a, T> {
            receiver: &'a Receiver<T>,
        }

        /// Iterator over all messages that owns its receiver.
        #[derive(Debug)]
        pub struct IntoIter<T> {
            receiver: Receiver<T>,
        }

        impl<T> Receiver<T> {
            /// Iterates over all messages until the senders are gone, waiting for each.
            pub fn iter(&self) -> Iter<'_, T> {
                Iter { receiver: self }
            }

            /// Iterates over the messages that are available now.
            pub fn try_iter(&self) -> TryIter<'_, T> {
                TryIter { receiver: self }
            }
        }

        impl<T> Iterator for Iter<'_, T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.receiver.recv().ok()
            }
        }

        impl<T> Iterator for TryIter<'_, T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.receiver.try_recv().ok()
            }
        }

        impl<T> Iterator for IntoIter<T> {
            type Item = T;

            #[track_caller]
            fn next(&mut self) -> Option<T> {
                self.receiver.recv().ok()
            }
        }

        impl<T> std::iter::FusedIterator for Iter<'_, T> {}
        impl<T> std::iter::FusedIterator for IntoIter<T> {}

        impl<T> IntoIterator for Receiver<T> {
            type Item = T;
            type IntoIter = IntoIter<T>;

            fn into_iter(self) -> IntoIter<T> {
                IntoIter { receiver: self }
            }
        }

        impl<'a, T> IntoIterator for &'a Receiver<T> {
            type Item = T;
            type IntoIter = Iter<'a, T>;

            fn into_iter(self) -> Iter<'a, T> {
                self.iter()
            }
        }
    };
}

pub(crate) use iterators;
